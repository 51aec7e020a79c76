import { assertEquals } from "@std/assert";
import { unknownNames } from "../../lib/config/unknown_names.ts";

function warningsFor(variables: Record<string, string>): readonly string[] {
  return unknownNames(Object.keys(variables), (name) => variables[name]);
}

Deno.test("unknownNames names the nearest variable for each unknown one of ours", () => {
  assertEquals(
    warningsFor({ COLLAPSER_CACHE_DURATON: "1s", COLLAPSER_NONSENSE: "", COLLAPSER_MODE: "off" }),
    [
      "Cannot use COLLAPSER_CACHE_DURATON: no such variable; " +
      "the nearest is COLLAPSER_CACHE_DURATION",
      "Cannot use COLLAPSER_NONSENSE: no such variable; the nearest is COLLAPSER_MODE",
    ],
  );
});

Deno.test("unknownNames warns of other prefixes only where it looks like a slip", () => {
  assertEquals(
    warningsFor({
      BACKEND_ADRESS: "db:1",
      GRPC_PROT: "1",
      LOG_LEVELS: "info",
      GRPC_VERBOSITY: "debug",
      GRPC_DNS_RESOLVER: "ares",
      LOG_DIR: "/var/log",
      BACKEND_URL: "http://x",
      PATH: "/bin",
      DRAIN_DELAYED: "1s",
      DRAIN_DELAYING: "1s",
    }),
    [
      "Cannot use BACKEND_ADRESS: no such variable; the nearest is BACKEND_ADDRESS",
      "Cannot use GRPC_PROT: no such variable; the nearest is GRPC_PORT",
      "Cannot use LOG_LEVELS: no such variable; the nearest is LOG_LEVEL",
      "Cannot use DRAIN_DELAYED: no such variable; the nearest is DRAIN_DELAY",
    ],
  );
});

Deno.test("unknownNames passes over what Kubernetes sets for a Service named collapser", () => {
  assertEquals(
    warningsFor({
      COLLAPSER_SERVICE_HOST: "10.0.0.1",
      COLLAPSER_SERVICE_PORT: "50052",
      COLLAPSER_SERVICE_PORT_GRPC: "50052",
      COLLAPSER_PORT: "tcp://10.0.0.1:50052",
      COLLAPSER_PORT_50052_TCP: "tcp://10.0.0.1:50052",
      COLLAPSER_PORT_50052_TCP_PROTO: "tcp",
      COLLAPSER_PORT_50052_TCP_PORT: "50052",
      COLLAPSER_PORT_50052_TCP_ADDR: "10.0.0.1",
    }),
    [],
  );
});

Deno.test("unknownNames warns of a port of ours that a person wrote", () => {
  assertEquals(warningsFor({ COLLAPSER_PORT: "50052" }).length, 1);
});
