/**
 * `graceMs` of a manager that ends as a crash would. With the default it finishes what it has begun: against a server that is gone each life of a
 * fault walk took two to four seconds to end, a hundred times what it took to get there.
 */
export const crashGraceMs = 500;
