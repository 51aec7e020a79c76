import { encodeGreetingRequest, type GreetingRequest } from "../../lib/hello/mod.ts";
import { type Client, openClient, type Reply } from "../../lib/measure/mod.ts";
import { within } from "./waiting.ts";

/** A client of our own, which a GOAWAY does not harm. It is closed when the scope ends. */
export async function clientOf(
  port: number,
  options: { connections?: number } = {},
): Promise<Client & AsyncDisposable> {
  const opening = openClient({ host: "127.0.0.1", port }, options);
  const client = await within(opening, "a client with all its connections");
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** One call of hello.v1, whose outcome is a result, good or bad. */
export function ask(
  client: Client,
  path: string,
  request: GreetingRequest = {},
  metadata: readonly (readonly [name: string, value: string])[] = [],
): Promise<Reply> {
  return client.callOnce({ path, message: encodeGreetingRequest(request), metadata });
}
