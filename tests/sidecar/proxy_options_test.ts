import { assertEquals } from "@std/assert";
import { proxyOptions } from "../../lib/sidecar/proxy_options.ts";
import { settingsOf } from "../support/local_sidecar.ts";

Deno.test("proxyOptions hands on every setting as it is, and the connections a backend has at most", () => {
  const settings = settingsOf({
    BACKEND_ADDRESS: "near=db.test:7001,far=dns:///db.far.test:7002,local=unix:/run/db.sock",
    BACKEND_USE_TLS: "true",
    BACKEND_CONNECTIONS: "3",
    COLLAPSER_MAX_FOLLOWERS: "12",
  });
  assertEquals(proxyOptions(settings), {
    ...settings,
    backendMaxConnections: 64,
    mode: "collapse",
  });
});

Deno.test("proxyOptions collapses unless that is off", () => {
  const modeOf = (mode: string) =>
    proxyOptions(settingsOf({ BACKEND_ADDRESS: "db.test:1", COLLAPSER_MODE: mode })).mode;
  assertEquals(["collapse", "off"].map(modeOf), ["collapse", "off"]);
});
