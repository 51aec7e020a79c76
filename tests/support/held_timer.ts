/** A timer that does not go off by itself. */
export interface HeldTimer {
  readonly ms: number;
  goesOff(): void;
}

/** What `act` gives, and the one timer that it sets before it does: time does nothing to it, the test makes it go off. */
export function holdingTimer<T>(
  kind: "setTimeout" | "setInterval",
  act: () => T,
): { given: T; timer: HeldTimer } {
  const real = globalThis[kind];
  const held: HeldTimer[] = [];
  Reflect.set(globalThis, kind, (goesOff: () => void, ms: number) => {
    held.push({ ms, goesOff });
    return 0; // which is no timer's number
  });
  try {
    const given = act();
    const [timer, ...more] = held;
    if (timer === undefined || more.length > 0) throw new Error(`${held.length} timers were set`);
    return { given, timer };
  } finally {
    Reflect.set(globalThis, kind, real);
  }
}
