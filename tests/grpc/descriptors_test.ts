import { assertEquals } from "@std/assert";
import { methodsIn, reflectionRequest } from "../../lib/grpc/mod.ts";
import { rng } from "../support/cuts.ts";

const encoder = new TextEncoder();

/** A length-delimited field; its payload is shorter than 128 bytes. */
function field(number: number, payload: Uint8Array | string): Uint8Array {
  const bytes = typeof payload === "string" ? encoder.encode(payload) : payload;
  const tag = number << 3 | 2;
  return Uint8Array.from([
    tag,
    ...bytes.length < 128 ? [bytes.length] : [bytes.length % 128 + 128, bytes.length >> 7],
    ...bytes,
  ]);
}

function join(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** MethodDescriptorProto; options.idempotency_level is field 34, whose tag takes two bytes. */
function method(name: string, level?: number): Uint8Array {
  const options = level === undefined ? [] : [field(4, Uint8Array.of(0x90, 0x02, level))];
  return join(field(1, name), field(2, ".a.Request"), ...options);
}

function service(name: string, ...methods: Uint8Array[]): Uint8Array {
  return field(6, join(field(1, name), ...methods.map((each) => field(2, each))));
}

/** ServerReflectionResponse with files. */
function response(...files: Uint8Array[]): Uint8Array {
  return field(4, join(...files.map((file) => field(1, file))));
}

const FILE = join(
  field(1, "shop/items.proto"),
  field(2, "shop.v1"),
  service("Other", method("Get", 1)),
  service("Items", method("Get", 1), method("Put", 2), method("List", 0), method("Find")),
);

Deno.test("methodsIn reads what each method of a service says, and of no other service", () => {
  const found = methodsIn(response(field(1, "empty.proto"), FILE), "shop.v1.Items");
  const levels = [...found ?? []].map(([name, { level }]) => [name, level]);
  assertEquals(levels, [
    ["Get", "no_side_effects"],
    ["Put", "idempotent"],
    ["List", "unknown"],
    ["Find", "unknown"],
  ]);
  assertEquals(methodsIn(response(FILE), "Items"), undefined);
  assertEquals(
    methodsIn(response(service("Bare", method("Get", 7))), "Bare")?.get("Get")?.level,
    "unknown",
  );
});

Deno.test("methodsIn reads which way a method streams", () => {
  const streaming = (field: number) => Uint8Array.of(field << 3, 1);
  const named = (name: string, ...rest: Uint8Array[]) => join(field(1, name), ...rest);
  const methods = [
    named("Get"),
    named("Watch", streaming(6)),
    named("Upload", streaming(5)),
    named("Chat", streaming(5), streaming(6)),
    named("Off", Uint8Array.of(6 << 3, 0)),
  ];
  const file = field(6, join(field(1, "Bare"), ...methods.map((method) => field(2, method))));
  const found = methodsIn(response(file), "Bare");
  assertEquals(
    [...found ?? []].map(([name, { takesStream, streams }]) => [name, takesStream, streams]),
    [
      ["Get", false, false],
      ["Watch", false, true],
      ["Upload", true, false],
      ["Chat", true, true],
      ["Off", false, false],
    ],
  );
});

Deno.test("methodsIn finds nothing in an error, in nothing, and in bytes that are no protobuf", () => {
  assertEquals(methodsIn(field(7, Uint8Array.of(0x08, 5)), "shop.v1.Items"), undefined);
  assertEquals(methodsIn(new Uint8Array(0), "shop.v1.Items"), undefined);
  const random = rng(34);
  const whole = response(FILE);
  for (let i = 0; i < 2_000; i++) {
    const broken = whole.slice(0, Math.floor(random() * whole.length));
    if (broken.length > 0) {
      broken[Math.floor(random() * broken.length)] = Math.floor(random() * 256);
    }
    methodsIn(broken, "shop.v1.Items"); // and does not throw
  }
});

Deno.test("reflectionRequest asks for the file that has a symbol, however long the name", () => {
  assertEquals([...reflectionRequest("a.B")], [0x22, 3, ...encoder.encode("a.B")]);
  assertEquals(reflectionRequest("x".repeat(4_000)).length, 129);
});
