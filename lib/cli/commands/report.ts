import { BOOLEAN, HTTP_URL, optional, POSITIVE_DURATION } from "../../config/mod.ts";
import { ownAdminUrl } from "../admin_url.ts";
import { defineCommand, refuse } from "../define_command.ts";
import { BAD_USAGE, FAILED, GOOD } from "../exit_codes.ts";
import { single } from "../flag_table.ts";
import { type Report, reportMarkdown, reportText } from "../report_text.ts";

export const REPORT = defineCommand({
  name: "report",
  summary: "what sharing saves or would, and the policy to paste",
  about: "Asks a running sidecar what it knows of each method: how many calls are answered with " +
    "another's answer, or would be in shadow, what that saves, whether answers were found to " +
    "depend on who asks, and what to do about it. Below 1,000 calls or an hour of a method it " +
    "recommends nothing. 48 hours are remembered, and a restart forgets them.",
  examples: ["collapser report", "collapser report --url http://10.0.0.7:2112 --md > report.md"],
  flags: {
    url: single(optional(HTTP_URL), {
      help: "the sidecar's admin listener (http://127.0.0.1:ADMIN_PORT, or METRICS_PORT)",
    }),
    json: single(BOOLEAN, { fallback: "false", help: "print what the sidecar says, as JSON" }),
    md: single(BOOLEAN, { fallback: "false", help: "print a table in Markdown" }),
    timeout: single(POSITIVE_DURATION, { fallback: "5s", help: "longest the answer may take" }),
  },
  async run({ url, json, md, timeout }, world) {
    if (json && md) {
      refuse(["Cannot print both: expected --json or --md"], world, "report");
      return BAD_USAGE;
    }
    const at = new URL("/api/report", url ?? ownAdminUrl(world.environment)).href;
    const answer = await world.runners.readAdmin(at, { timeoutMs: timeout });
    if ("why" in answer) {
      world.complain(`Cannot get a report from ${at}: ${answer.why}`);
      return FAILED;
    }
    const report = answer.value as Report;
    world.print(
      json
        ? JSON.stringify(report, undefined, 2)
        : md
        ? reportMarkdown(report)
        : reportText(report),
    );
    return GOOD;
  },
});
