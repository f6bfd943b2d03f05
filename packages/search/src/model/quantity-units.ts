/** Factor of the suffix of a quantity, as Kubernetes writes sizes: `2Gi`, `1500M`. */
export const quantityUnits: Readonly<Record<string, number>> = {
  "": 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
  Pi: 1024 ** 5,
  Ei: 1024 ** 6,
};

/** A quantity such as `2Gi`, `1500M` or `1e9`, in bytes; undefined if it is none. */
export function quantityBytes(quantity: unknown): number | undefined {
  const [, amount, unit = ""] =
    /^(\d+(?:\.\d*)?(?:[eE]\d+)?)([kMGTPE]i?|Ki|m)?$/.exec(String(quantity)) ?? [];
  const factor = quantityUnits[unit];
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}
