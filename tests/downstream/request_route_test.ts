import { assert, assertEquals, assertNotEquals, assertStrictEquals } from "@std/assert";
import { CollapseMap, compileEligibility } from "../../lib/collapse/mod.ts";
import type { FlightCall } from "../../lib/downstream/flight_call.ts";
import type { Mode } from "../../lib/downstream/method_policy.ts";
import { MethodTable } from "../../lib/downstream/method_table.ts";
import { IdentityRouter, Router } from "../../lib/downstream/request_route.ts";
import { ProxyCounters, SILENT } from "../../lib/observe/mod.ts";
import { KEY_CODEC } from "../../lib/sidecar/key_codec.ts";
import type { ShadowAnswer } from "../../lib/trial/mod.ts";
import { HeaderCache, HeaderList } from "../../lib/wire/mod.ts";
import { requestHead } from "../support/caller_end.ts";
import type { Pairs } from "../support/frames.ts";
import { valueOf, WIDE } from "../support/peer_end.ts";
import { plainSettings } from "../support/settings.ts";
import { GET, PUT, withRig } from "../support/proxy_rig.ts";

Deno.test("Router finds the route of a list on the list, once it was worked out", () => {
  const { router, list } = routing();
  const head = list(requestHead(GET));
  const route = router.route(head);
  assertStrictEquals(router.route(head), route);
  assertEquals([route.method.path, route.httpStatus, route.asksHealth], [GET, 0, false]);
  assert(route.keyHead !== undefined);
});

Deno.test("Router gives lists that ask for the same one key, and others another or none", () => {
  const { router, list } = routing();
  const key = (fields: Pairs) => router.route(list(fields)).keyHead;
  const plain = key(requestHead(GET));
  assertStrictEquals(key([...requestHead(GET), ["user-agent", "a"]]), plain);
  assertNotEquals(key([...requestHead(GET), ["x", "a"]])?.text, plain?.text);
  assertEquals(key(requestHead(PUT)), undefined);
  const { router: off, list: listOff } = routing({ mode: "off" });
  assertEquals(off.route(listOff(requestHead(GET))).keyHead, undefined);
});

Deno.test("Router asks again when the methods were forgotten, or the key", () => {
  const { router, list, methods, map } = routing();
  const [read, write] = [list(requestHead(GET)), list(requestHead(PUT))];
  const before = [router.route(read), router.route(write)];
  map.forgetAll();
  assertNotEquals(router.route(read).keyHead, before[0]?.keyHead);
  assertStrictEquals(router.route(write), before[1]);
  methods.setPolicies([]);
  assertEquals(router.route(write).method === before[1]?.method, false);
  assertStrictEquals(router.route(write).method.service, router.route(read).method.service);
});

Deno.test("Router turns away what is no gRPC call, and knows its own health question", () => {
  const { router, list, counters } = routing();
  const status = (fields: Pairs) => router.route(list(fields)).httpStatus;
  const rest = requestHead("/.env").slice(1);
  assertEquals(status([[":method", "GET"], ...rest]), 405);
  assertEquals(status([[":method", "POST"], ...rest.slice(0, -1)]), 415);
  assertEquals(status([[":method", "CONNECT"], [":authority", "a"]]), 405);
  assertEquals(counters.methods.size, 0);
  const health = router.route(list(requestHead("/grpc.health.v1.Health/Check")));
  assertEquals([health.asksHealth, health.keyHead], [true, undefined]);
});

Deno.test("IdentityRouter asks again when the key or the methods were forgotten", () => {
  const map = new CollapseMap<FlightCall>({
    ...{ maxCacheEntries: 10, maxCacheBytes: 1e6, joinMaxAgeMs: 1e4, maxFollowers: 10 },
  });
  const methods = new MethodTable({
    eligibility: compileEligibility(["auto"]),
    settings: plainSettings(),
    counters: new ProxyCounters(),
    observer: SILENT,
    onForget: () => map.forgetAll(),
  });
  const router = new IdentityRouter("a", {
    ...{ methods, map, shadowMap: shadowMap(), codec: KEY_CODEC },
  });
  const head = new HeaderCache().list(requestHead(GET));
  const before = router.route(head);
  assertStrictEquals(router.route(head), before);
  map.forgetAll();
  const after = router.route(head);
  assertNotEquals(after.keyHead, before.keyHead);
  assertEquals(after.keyHead?.text, before.keyHead?.text);
  methods.setPolicies([]);
  assertNotEquals(router.route(head).epoch, after.epoch);
});

for (const usesTls of [false, true]) {
  const scheme = usesTls ? "https" : "http";
  Deno.test(`Proxy calls a backend ${usesTls ? "over" : "without"} TLS with :scheme ${scheme}, whatever the caller's is`, async () => {
    await withRig({ backendUseTls: usesTls }, async (rig) => {
      const callers = [await rig.caller(), await rig.caller(WIDE, { identity: "a" })];
      for (const [i, caller] of callers.entries()) {
        const calls = ["http", "https"].map((own) =>
          caller.call(GET, "1", {
            head: [
              [":method", "POST"],
              [":scheme", own],
              [":path", GET],
              [":authority", "service.test"],
              ["te", "trailers"],
              ["content-type", "application/grpc"],
            ],
          })
        );
        await rig.settle();
        rig.expectsRequests(i + 1); // whatever the scheme, the question is one
        const { fields } = rig.request(i);
        assertEquals(fields.map(([name]) => name), [
          ":method",
          ":scheme",
          ":path",
          ":authority",
          "te",
          "content-type",
        ]);
        assertEquals(valueOf(fields, ":scheme"), scheme);
        rig.request(i).replies(["one"]);
        await rig.settle();
        for (const call of calls) call.expects(0, "one");
      }
    });
  });
}

function routing({ mode = "collapse" as Mode } = {}): {
  router: Router;
  list: (fields: Pairs) => HeaderList;
  methods: MethodTable;
  map: CollapseMap<FlightCall>;
  counters: ProxyCounters;
} {
  const limits = { maxCacheEntries: 10, maxCacheBytes: 1e6, joinMaxAgeMs: 1e4, maxFollowers: 10 };
  const map = new CollapseMap<FlightCall>(limits);
  const counters = new ProxyCounters();
  const methods = new MethodTable({
    eligibility: compileEligibility(["auto"]),
    settings: plainSettings({ mode }),
    counters,
    observer: SILENT,
    onForget: () => map.forgetAll(),
  });
  const cache = new HeaderCache();
  const router = new Router({ methods, map, shadowMap: shadowMap(), codec: KEY_CODEC });
  return { router, list: (fields) => cache.list(fields), methods, map, counters };
}

function shadowMap(): CollapseMap<ShadowAnswer> {
  return new CollapseMap({
    ...{ maxCacheEntries: 10, maxCacheBytes: 1e6, joinMaxAgeMs: 1e4, maxFollowers: 10 },
  });
}
