export type Tone = "good" | "busy" | "bad" | "faint" | "strong";

/** Gives text a tone, or leaves it as it is. */
export type Paint = (tone: Tone, text: string) => string;

/** No colours at all. */
export const plain: Paint = (_tone, text) => text;

/** The colours of a terminal. */
export const colored: Paint = (tone, text) => `\u{1b}[${codes[tone]}m${text}\u{1b}[0m`;

const codes: Readonly<Record<Tone, number>> = { good: 32, busy: 33, bad: 31, faint: 2, strong: 1 };
