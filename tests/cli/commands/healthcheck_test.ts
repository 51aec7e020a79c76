import { assertEquals } from "@std/assert";
import { collapser } from "../support.ts";

Deno.test("healthcheck asks the sidecar of the same environment", async () => {
  for (const [variables, port] of [[{}, 50_052], [{ GRPC_PORT: " 7000 " }, 7_000]] as const) {
    const { code, out, ran } = await collapser("healthcheck", { variables });
    const target = {
      over: "grpc",
      address: { host: "127.0.0.1", port },
      service: "collapser",
    };
    assertEquals([code, ran], [0, ["probe", target, { timeoutMs: 1_000 }]]);
    assertEquals(out, `127.0.0.1:${port}: serving`);
  }
});

Deno.test("healthcheck asks another address, service and for less long", async () => {
  const { ran } = await collapser("healthcheck --address [::1]:9 --service a.B --timeout 50ms", {
    variables: { GRPC_PORT: "unreadable" },
  });
  const target = { over: "grpc", address: { host: "::1", port: 9 }, service: "a.B" };
  assertEquals(ran, ["probe", target, { timeoutMs: 50 }]);
});

Deno.test("healthcheck asks over HTTP when given a URL", async () => {
  const url = "http://127.0.0.1:2112/ready";
  const { out, ran } = await collapser(`healthcheck --http ${url}`);
  assertEquals(ran?.[1], { over: "http", url });
  assertEquals(out, `${url}: serving`);
});

Deno.test("healthcheck asks for the server as a whole with an empty service", async () => {
  const { ran } = await collapser("healthcheck --service=");
  assertEquals((ran?.[1] as { service: string }).service, "");
});

Deno.test("healthcheck exits with 1 and the reason when the answer is no", async () => {
  const { code, out, err } = await collapser("healthcheck --address db:1", {
    runners: { probe: () => Promise.resolve({ healthy: false, detail: "not serving" }) },
  });
  assertEquals([code, out], [1, ""]);
  assertEquals(err, "Cannot confirm that db:1 is healthy: not serving");
});

Deno.test("healthcheck needs an address when GRPC_PORT gives none", async () => {
  for (const port of ["0", "x", "99999"]) {
    const { code, err, ran } = await collapser("healthcheck", { variables: { GRPC_PORT: port } });
    assertEquals([code, ran], [64, undefined]);
    assertEquals(
      err.split("\n")[0],
      `Cannot probe GRPC_PORT "${port}": expected a port from 1 to 65535, or --address`,
    );
  }
});
