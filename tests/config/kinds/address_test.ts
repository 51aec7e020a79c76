import { assertEquals } from "@std/assert";
import {
  BACKENDS,
  HOST_PORT,
  LISTEN_ADDRESS,
  LISTEN_HOST,
  NAMED_ADDRESS,
  unixPath,
} from "../../../lib/config/kinds/address.ts";

Deno.test("HOST_PORT reads names, IPv4, bracketed IPv6, and no host as this machine", () => {
  const cases = {
    "db:1": { host: "db", port: 1 },
    "db_1.svc.local:50051": { host: "db_1.svc.local", port: 50_051 },
    "127.0.0.1:65535": { host: "127.0.0.1", port: 65_535 },
    "[::1]:50051": { host: "::1", port: 50_051 },
    "[fe80::1%eth0]:50051": { host: "fe80::1%eth0", port: 50_051 },
    ":50051": { host: "localhost", port: 50_051 },
  };
  for (const [text, value] of Object.entries(cases)) {
    assertEquals(HOST_PORT.parse(text), { value }, text);
  }
});

Deno.test("HOST_PORT refuses what leaves host or port in doubt", () => {
  const bad = ["", ":", "db", "db:", "db:0", "db:65536", "db:-1", "db:http", "::1:50051"];
  for (const text of [...bad, "[::1]", "[db]:1", "http://db:1", "db/x:1", "a b:1", "db:1:2"]) {
    assertEquals(HOST_PORT.parse(text), { why: "expected host:port" }, text);
  }
});

Deno.test("HOST_PORT shows what it would read", () => {
  assertEquals(HOST_PORT.show({ host: "::1", port: 2 }), "[::1]:2");
  assertEquals(HOST_PORT.show({ host: "db", port: 2 }), "db:2");
});

Deno.test("NAMED_ADDRESS reads a name and an address, and shows them", () => {
  const value = { name: "shard-1", host: "::1", port: 2 };
  assertEquals(NAMED_ADDRESS.parse("shard-1=[::1]:2"), { value });
  assertEquals(NAMED_ADDRESS.show(value), "shard-1=[::1]:2");
  for (const text of ["", "db:1", "=db:1", "a=", "a=db", "a b=db:1", "a=b=db:1"]) {
    assertEquals(NAMED_ADDRESS.parse(text), {
      why: "expected a name and an address, such as a=127.0.0.1:50051",
    }, text);
  }
});

Deno.test("LISTEN_HOST takes the brackets off and puts them back", () => {
  const cases = { "[::]": "::", "::": "::", "0.0.0.0": "0.0.0.0", "localhost": "localhost" };
  for (const [text, host] of Object.entries(cases)) {
    assertEquals(LISTEN_HOST.parse(text), { value: host }, text);
  }
  assertEquals([LISTEN_HOST.show("::"), LISTEN_HOST.show("0.0.0.0")], ["[::]", "0.0.0.0"]);
  for (const text of ["", "0.0.0.0:50052", "[::]:50052", "a b"]) {
    assertEquals(LISTEN_HOST.parse(text), {
      why: "expected an address without a port, such as [::] or 0.0.0.0",
    }, text);
  }
});

Deno.test("LISTEN_ADDRESS takes what LISTEN_HOST does, and the path of a unix socket", () => {
  const cases = {
    "[::]": "::",
    "0.0.0.0": "0.0.0.0",
    "unix:/run/c.sock": "unix:/run/c.sock",
    "unix:///run/c.sock": "unix:/run/c.sock",
    "unix:c.sock": "unix:c.sock",
  };
  for (const [text, host] of Object.entries(cases)) {
    assertEquals(LISTEN_ADDRESS.parse(text), { value: host }, text);
  }
  const shown = ["::", "0.0.0.0", "unix:/run/c.sock"].map(LISTEN_ADDRESS.show);
  assertEquals(shown, ["[::]", "0.0.0.0", "unix:/run/c.sock"]);
  const why = "expected an address without a port, such as [::] or 0.0.0.0, or unix:/path";
  assertEquals(LISTEN_ADDRESS.parse("[::]:50052"), { why });
  for (const text of ["unix:", "unix://host/path"]) {
    assertEquals(LISTEN_ADDRESS.parse(text), { why: "expected a path, as in unix:/path" }, text);
  }
});

Deno.test("unixPath is that of a unix socket alone", () => {
  assertEquals(["unix:/run/c.sock", "::", "unix"].map(unixPath), [
    "/run/c.sock",
    undefined,
    undefined,
  ]);
});

Deno.test("BACKENDS reads one address of each form", () => {
  const cases = {
    "db:1": { name: "db:1", ...tcp("db") },
    ":1": { name: "localhost:1", ...tcp("localhost") },
    "[::1]:1": { name: "[::1]:1", ...tcp("::1") },
    "dns:///db:1": { name: "dns:///db:1", ...tcp("db"), resolves: true },
    "a-1=db:1": { name: "a-1", ...tcp("db") },
    "unix:/run/x": { name: "unix:/run/x", ...unix("/run/x") },
    "unix:///run/x": { name: "unix:/run/x", ...unix("/run/x") },
    "unix:run/a=b": { name: "unix:run/a=b", ...unix("run/a=b") },
    "s=unix:/run/x": { name: "s", ...unix("/run/x") },
  };
  for (const [text, backend] of Object.entries(cases)) {
    assertEquals(BACKENDS.parse(text), { value: [backend] }, text);
  }
});

Deno.test("BACKENDS reads several, trims them and drops empty ones", () => {
  const parsed = BACKENDS.parse(" a=db:1 ,, [::1]:2,unix:/x,");
  assertEquals("value" in parsed && parsed.value.map(({ name }) => name), [
    "a",
    "[::1]:2",
    "unix:/x",
  ]);
  assertEquals("value" in parsed && BACKENDS.show(parsed.value), "a=db:1,[::1]:2,unix:/x");
});

Deno.test("BACKENDS shows what it would read as the same", () => {
  for (const text of ["a=dns:///db:1", "dns:///db:1,db:1", "s=unix:/x"]) {
    const parsed = BACKENDS.parse(text);
    assertEquals("value" in parsed && BACKENDS.show(parsed.value), text);
  }
});

Deno.test("BACKENDS says which of several is wrong, and why", () => {
  const form = "expected host:port, [v6]:port, dns:///host:port or unix:/path";
  const cases = {
    "": form,
    ",": form,
    "db": form,
    "http://db:1": form,
    "a:1,db": `"db" in it: ${form}`,
    "unix:": "expected a path, as in unix:/path",
    "unix://run/x": "expected a path, as in unix:/path",
    "a:1,a:1": '"a:1" stands in it twice',
    "x=a:1,x=b:1": '"x" stands in it twice',
    "a b=c:1": form,
  };
  for (const [text, why] of Object.entries(cases)) {
    assertEquals(BACKENDS.parse(text), { why }, text);
  }
});

function tcp(host: string) {
  return { address: { host, port: 1 }, resolves: false };
}

function unix(path: string) {
  return { address: { host: "", port: 0, path } };
}
