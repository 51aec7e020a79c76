/**
 * Stands in for the part of `jsr:@std/assert` that the tests use, on machines that cannot reach
 * JSR. Equality is that of `node:util`, which differs from the real package in three corners that
 * no test may rely on: `0` and `-0`, plain and null-prototype objects, two errors of one message.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
export class AssertionError extends Error {
  override name = "AssertionError";
}
// deno-lint-ignore no-explicit-any
type AnyConstructor = new (...args: any[]) => any;
const show = (x: unknown) => Deno.inspect(x, { depth: 8, sorted: true, strAbbreviateSize: 400 });
export function fail(msg?: string): never {
  throw new AssertionError(msg ?? "Failed assertion.");
}
const both = (a: unknown, b: unknown, what: string, msg?: string) => fail(`${show(a)} ${what} ${show(b)}${msg ? ": " + msg : ""}`);
export const equal = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a, b);
export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) fail(msg);
}
export function assertFalse(expr: unknown, msg = ""): asserts expr is false | 0 | "" | null | undefined {
  if (expr) fail(msg || "Expected a falsy value");
}
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!equal(actual, expected)) both(actual, expected, "does not equal", msg);
}
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) both(actual, expected, "equals", msg);
}
export function assertStrictEquals<T>(actual: unknown, expected: T, msg?: string): asserts actual is T {
  if (!Object.is(actual, expected)) both(actual, expected, "is not", msg);
}
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T> {
  if (actual === undefined || actual === null) fail(msg ?? `Expected a value, got ${actual}`);
}
export function assertInstanceOf<T extends AnyConstructor>(actual: unknown, type: T, msg = ""): asserts actual is InstanceType<T> {
  if (!(actual instanceof type)) both(actual, type.name, "is not an instance of", msg);
}
export function assertMatch(actual: string, expected: RegExp, msg?: string): void {
  if (!expected.test(actual)) both(actual, expected, "does not match", msg);
}
export function assertStringIncludes(actual: string, expected: string, msg?: string): void {
  if (!actual.includes(expected)) both(actual, expected, "does not contain", msg);
}
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual > expected)) both(actual, expected, "is not greater than", msg);
}
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual < expected)) both(actual, expected, "is not less than", msg);
}
// deno-lint-ignore no-explicit-any
type ErrorClass<E> = abstract new (...args: any[]) => E;
function check<E>(thrown: { error: unknown } | undefined, type?: ErrorClass<E>, text?: string): E {
  if (thrown === undefined) fail("Expected function to throw.");
  if (type && !(thrown.error instanceof type)) both(thrown.error, type.name, "is not an instance of");
  if (text && !String((thrown.error as Error).message).includes(text)) both((thrown.error as Error).message, text, "does not contain");
  return thrown.error as E;
}
export function assertThrows(fn: () => unknown, msg?: string): unknown;
export function assertThrows<E extends Error = Error>(fn: () => unknown, type: ErrorClass<E>, text?: string, msg?: string): E;
export function assertThrows<E extends Error>(fn: () => unknown, type?: ErrorClass<E> | string, text?: string): E {
  let thrown: { error: unknown } | undefined;
  try {
    fn();
  } catch (error) {
    thrown = { error };
  }
  return check(thrown, typeof type === "string" ? undefined : type, text);
}
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
export function assertRejects<E extends Error = Error>(fn: () => PromiseLike<unknown>, type: ErrorClass<E>, text?: string, msg?: string): Promise<E>;
export async function assertRejects<E extends Error>(fn: () => PromiseLike<unknown>, type?: ErrorClass<E> | string, text?: string): Promise<E> {
  let thrown: { error: unknown } | undefined;
  try {
    await fn();
  } catch (error) {
    thrown = { error };
  }
  return check(thrown, typeof type === "string" ? undefined : type, text);
}
