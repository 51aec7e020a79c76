import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { compileEligibility, judgeByName } from "../../lib/collapse/eligibility.ts";

/** As the documentation lists them. */
const READING_VERBS = "Get BatchGet List Search Read Lookup Find Query Describe Count Has Is Exists"
  .split(" ");

/** As the documentation lists them. */
const OTHER_WORDS = (
  "And Or Then Next New Create Insert Add Append Update Upsert Set Put Write Modify Mutate Patch Delete Remove " +
  "Reset Increment Pop Take Claim Lease Lock Acquire Reserve Consume Ack Send Start Begin Register Generate Nonce " +
  "Random Token Ticket Session Secret Code Otp Challenge Upload"
).split(" ");

Deno.test("judgeByName takes every reading verb, alone and as the first word", () => {
  for (const verb of READING_VERBS) {
    for (const name of [verb, `${verb}Item`, `${verb}ItemsByOwner`, `${verb}V2`, `${verb}_item`]) {
      assert(judgeByName(name).eligible, name);
    }
  }
});

Deno.test("judgeByName takes names that begin with a reading verb and hint at no more", () => {
  for (
    const name of [
      "GetItem",
      "getItem",
      "GETItem",
      "GET",
      "get_item",
      "Get2Items",
      "GetURL",
      "GetURLForItem",
      "GetHTTPHeaders",
      "BatchGetItems",
      "batchGetItems",
      "ListAndroidDevices", // And is a part of a word here
      "GetOrganization",
      "GetOrder",
      "ListNewest",
      "GetNews",
      "GetSettings",
      "GetAddress",
      "GetSender",
      "GetPatches",
      "GetLocker",
      "GetCodec",
      "ListTakeaways",
      "GetStartup",
      "GetUpdatedItems",
      "GetCreatedAt",
      "SearchRandomness",
      "FindNextdoorNeighbours",
      "IsLocked",
      "HasPutter",
      "ExistsItem",
      "CountItems",
      "DescribeInputs",
      "ReadModifyingItems",
      "LookupPopularItems",
      "LOOKUPItem",
      "QueryRange",
    ]
  ) assertEquals(judgeByName(name).eligible, true, name);
});

Deno.test("judgeByName refuses names that do not begin with a reading verb as a whole word", () => {
  for (
    const name of [
      "",
      "_",
      "123",
      "Getaway",
      "getitem",
      "GETITEM",
      "Gets",
      "Getter",
      "Listen",
      "ListenToItems",
      "Listing",
      "Searching",
      "Reader",
      "Reading",
      "Ready",
      "Findings",
      "Queryable",
      "Counter",
      "Country",
      "Hash",
      "HashPassword",
      "Hasten",
      "Issue",
      "IssueCard",
      "Island",
      "Existing",
      "LookUpItem", // Look is no such verb
      "Batch",
      "BatchItems",
      "BatchDelete",
      "BatchGets",
      "BatchAndGet",
      "GetchItem",
      "Create",
      "CreateItem",
      "DeleteItem",
      "SayHello",
      "Watch",
      "WatchItems",
      "StreamItems",
      "Check",
      "Fetch",
      "FetchItem",
      "Compute",
      "Login",
      "DoGet",
      "TryGetItem",
      "ForgetItem",
      "BudgetItems",
      "AGet",
      "ItemGet",
      "ПолучитьItem",
    ]
  ) assertEquals(judgeByName(name).eligible, false, name);
});

Deno.test("judgeByName refuses every word that hints at more, wherever it stands and however it is written", () => {
  for (const word of OTHER_WORDS) {
    const names = [
      `Get${word}`,
      `Get${word}Item`,
      `GetItem${word}`,
      `List${word}2`,
      `BatchGet${word}`,
      `Find${word.toUpperCase()}`,
      `find_${word.toLowerCase()}_item`,
      `Get_${word.toUpperCase()}_ITEM`,
      `GetA${word}`,
    ];
    for (const name of names) {
      const { eligible, why } = judgeByName(name);
      if (word === "Set" && /set(2|)$/i.test(name)) { // a noun: GetRuleSet
        assertEquals(eligible, true, name);
        continue;
      }
      assertEquals(eligible, false, name);
      assertStringIncludes(why, word.toLowerCase());
    }
  }
});

Deno.test("judgeByName refuses what only looks like reading", () => {
  for (
    const name of [
      "GetNextJob",
      "FindOrCreateUser",
      "GetNonce",
      "GetAndSet",
      "GetAndIncrement",
      "ReadModifyWrite",
      "FindAndModify",
      "GetOrInsert",
      "ListThenDelete",
      "GetUploadURL",
      "GetAUploadURL",
      "GetOTP",
      "GetOTPForUser",
      "GetSMSCode",
      "GetCSRFToken",
      "IsNew",
      "HasLock",
      "GetSessionState",
      "QueryTicket",
      "DescribeSecret",
      "GetRandomItem",
      "FindORCreateUser",
    ]
  ) assertEquals(judgeByName(name).eligible, false, name);
});

Deno.test("judgeByName reads a run of capitals as one word", () => {
  assertEquals(judgeByName("GetNEXTItem").eligible, false);
  assertEquals(judgeByName("GetNEXTERItem").eligible, true);
  assertEquals(judgeByName("GETNEXTItem").eligible, false); // "getnext" is no verb
});

Deno.test("judgeByName says why in words", () => {
  assertEquals(judgeByName("GetItem").why, "its name begins with get");
  assertEquals(judgeByName("BatchGetItem").why, "its name begins with batchget");
  assertEquals(judgeByName("GetNextJob").why, "its name holds next");
  assertEquals(judgeByName("Watch").why, "its name does not begin with a reading verb");
});

/** What a list of items makes of methods, by service and name. */
const CASES: readonly {
  readonly items: readonly string[];
  readonly yes: readonly string[];
  readonly no: readonly string[];
}[] = [
  {
    items: ["auto"],
    yes: ["a.S/GetItem", "S/List", "/GetItem"],
    no: ["a.S/PutItem", "a.S/GetToken", "a.S/"],
  },
  { items: ["*"], yes: ["a.S/GetItem", "a.S/PutItem", "b.T/Watch"], no: [] },
  { items: ["*", "!/a.S/PutItem"], yes: ["a.S/GetItem", "b.S/PutItem"], no: ["a.S/PutItem"] },
  { items: ["!/a.S/*", "*"], yes: ["b.T/PutItem"], no: ["a.S/GetItem", "a.S/PutItem"] },
  { items: ["auto", "!/a.S/GetItem"], yes: ["a.S/GetItems"], no: ["a.S/GetItem", "a.S/PutItem"] },
  { items: ["auto", "/a.S/PutItem"], yes: ["a.S/GetItem", "a.S/PutItem"], no: ["b.S/PutItem"] },
  {
    items: ["/a.S/Put"],
    yes: ["a.S/Put"],
    no: ["a.S/GetItem", "a.S/Puts", "a.S/put", "a.S.T/Put", "S/Put", "b.a.S/Put"],
  },
  { items: ["/a.S/*"], yes: ["a.S/Put", "a.S/Watch"], no: ["a.SS/Put", "a.S.T/Put", "b.T/Get"] },
  { items: ["/a.S/*", "!/a.S/Put"], yes: ["a.S/Get"], no: ["a.S/Put"] },
  { items: ["!/a.S/Put", "/a.S/Put"], yes: [], no: ["a.S/Put"] },
  { items: ["!/a.S/*", "/a.S/Get", "auto"], yes: ["b.T/Get"], no: ["a.S/Get"] },
  { items: ["!/a.S/Put"], yes: [], no: ["a.S/Get", "a.S/Put", "b.T/Get"] },
  { items: [], yes: [], no: ["a.S/GetItem"] },
  { items: ["schema"], yes: [], no: ["a.S/GetItem"] }, // nothing says so without a descriptor
];

Deno.test("compileEligibility reads auto, *, methods, services and exclusions, whatever their order", () => {
  for (const { items, yes, no } of CASES) {
    for (const list of [items, [...items].reverse()]) {
      const judge = compileEligibility(list);
      for (const [names, expected] of [[yes, true], [no, false]] as const) {
        for (const name of names) {
          const { eligible, why } = judge(...split(name));
          assertEquals(eligible, expected, `${list.join()} makes of ${name}: ${why}`);
        }
      }
    }
  }
});

Deno.test("compileEligibility never takes health or reflection, whatever is listed", () => {
  const judges = [
    ["auto"],
    ["*"],
    ["/grpc.health.v1.Health/*", "/grpc.health.v1.Health/Check"],
    ["/grpc.reflection.v1.ServerReflection/*", "*"],
    ["/grpc.reflection.v1alpha.ServerReflection/*"],
  ].map(compileEligibility);
  for (const judge of judges) {
    for (
      const [service, method] of [
        ["grpc.health.v1.Health", "Check"],
        ["grpc.health.v1.Health", "List"],
        ["grpc.health.v1.Health", "GetItem"],
        ["grpc.health.v2.Other", "Check"],
        ["grpc.reflection.v1.ServerReflection", "ServerReflectionInfo"],
        ["grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo"],
        ["grpc.reflection.v1.Other", "GetItem"],
      ] as const
    ) assertEquals(judge(service, method).eligible, false, `${service}/${method}`);
  }
});

Deno.test("compileEligibility takes services whose names only resemble those", () => {
  const judge = compileEligibility(["auto"]);
  for (
    const service of [
      "grpc.healthcare.Patients",
      "my.grpc.health.v1.Health",
      "grpc_health.v1.Health",
      "grpcxhealth.v1.Health",
      "grpc.channelz.v1.Channelz",
    ]
  ) assertEquals(judge(service, "GetItem").eligible, true, service);
});

Deno.test("compileEligibility says which item decided", () => {
  const judge = compileEligibility(["auto", "/a.S/Put", "/b.T/*", "!/a.S/Get"]);
  assertEquals(judge("a.S", "Put").why, "listed as /a.S/Put");
  assertEquals(judge("b.T", "Put").why, "listed as /b.T/*");
  assertEquals(judge("a.S", "Get").why, "excluded by !/a.S/Get");
  assertEquals(judge("a.S", "List").why, "its name begins with list");
  assertEquals(compileEligibility(["*"])("a.S", "Put").why, "every method is, by *");
  assertEquals(compileEligibility(["/a.S/Put"])("a.S", "Get").why, "not listed");
});

function split(name: string): [service: string, method: string] {
  const at = name.lastIndexOf("/");
  return [name.slice(0, at), name.slice(at + 1)];
}

Deno.test("compileEligibility lets a descriptor that says something go before the name, and schema needs one", () => {
  const auto = compileEligibility(["auto"]);
  const schema = compileEligibility(["schema", "!/a.S/GetSecret"]);
  const levels = ["no_side_effects", "idempotent", "unknown", undefined] as const;
  const judged = (judge: typeof auto, method: string) =>
    levels.map((level) => judge("a.S", method, { level }).eligible);
  assertEquals(judged(auto, "GetItem"), [true, false, true, true]);
  assertEquals(judged(auto, "SayHello"), [true, false, false, false]);
  assertEquals(judged(schema, "GetItem"), [true, false, false, false]);
  assertEquals(judged(schema, "GetSecret"), [false, false, false, false]);
  assertEquals(
    auto("a.S", "SayHello", { level: "no_side_effects" }).why,
    "its descriptor says NO_SIDE_EFFECTS",
  );
  assertEquals(
    compileEligibility(["/a.S/Put"])("a.S", "Get", { level: "no_side_effects" }).eligible,
    false,
  );
});

Deno.test("compileEligibility takes additions beside auto, which exclusions go before", () => {
  const judge = compileEligibility(["auto", "/a.S/CheckAccess", "/b.S/*", "!/b.S/Put"]);
  const judged = ["/a.S/CheckAccess", "/a.S/CheckOther", "/a.S/GetItem", "/b.S/Do", "/b.S/Put"].map(
    (path) => judge(...path.slice(1).split("/") as [string, string]).eligible,
  );
  assertEquals(judged, [true, false, true, true, false]);
});

Deno.test("compileEligibility shares no answers that stream what goes on", () => {
  const judge = compileEligibility(["auto"]);
  for (const method of ["GetEvents", "ReadLogs", "ListFlows", "GetProfile"]) {
    assertEquals(judge("a.S", method).eligible, true, method);
    assertEquals(judge("a.S", method, { streams: true }).eligible, false, method);
  }
  const level = "no_side_effects";
  assertEquals(judge("a.S", "TailLogs", { level, streams: true }).eligible, false);
  assertEquals(judge("a.S", "ListItems", { streams: true }).eligible, true);
});

Deno.test("judgeByName knows public methods and names that read by name and are not", () => {
  assertEquals(judgeByName("Query", "api.Dgraph").eligible, false);
  assertEquals(judgeByName("Query", "shop.Items").eligible, true);
  for (const name of ["GetIds", "ReadAll", "FindMatch", "CountDown"]) {
    assertEquals(judgeByName(name).eligible, false, name);
  }
});
