import { assertEquals, assertStrictEquals } from "@std/assert";
import { type ReplyHead, replyHead } from "../../lib/upstream/reply_head.ts";
import { HeaderCache } from "../../lib/wire/mod.ts";
import type { Pairs } from "../support/frames.ts";

Deno.test("replyHead reads what a list of the backend's says", () => {
  const type = ["content-type", "application/grpc+proto"] as const;
  const cases: readonly (readonly [list: Pairs, head: Partial<ReplyHead>])[] = [
    [[[":status", "200"], type], { httpStatus: 200, isGrpc: true, interim: false }],
    [[[":status", "200"], ["content-type", "text/html"]], { isGrpc: false }],
    [[[":status", "200"]], { isGrpc: false }],
    [[[":status", "503"], type], { httpStatus: 503, isGrpc: false }],
    [[[":status", "103"]], { httpStatus: 103, interim: true }],
    [[["grpc-status", "5"]], { httpStatus: 0, grpcStatus: 5, interim: false }],
    [[["grpc-status", "05"]], { grpcStatus: 5 }],
    [[["grpc-status", "x"]], { grpcStatus: undefined }],
    [[["cache-control", "private"]], {
      cache: {
        isPrivate: true,
        isNoCache: false,
        maxAgeMs: Infinity,
        sharedMaxAgeMs: Infinity,
        maxStaleMs: Infinity,
        maxStaleIfErrorMs: Infinity,
        vary: [],
      },
    }],
    [[["x", "1"]], { grpcStatus: undefined, cache: undefined }],
  ];
  for (const [list, expected] of cases) {
    const head = replyHead(new HeaderCache().list(list));
    for (const [name, value] of Object.entries(expected)) {
      assertEquals(head[name as keyof ReplyHead], value, `${name} of ${JSON.stringify(list)}`);
    }
  }
});

Deno.test("replyHead is read once for a list", () => {
  const list = new HeaderCache().list([["grpc-status", "0"]]);
  assertStrictEquals(replyHead(list), replyHead(list));
});
