import type { Command } from "./command.ts";
import { COMMANDS } from "./command_table.ts";
import { Page } from "./page.ts";
import { listVariables } from "./variables.ts";

/** What `collapser --help` prints. */
export function overview(options: { colour: boolean }): string {
  const page = new Page(options)
    .paragraph("collapser: one backend call answers everyone who asks the same thing")
    .blank()
    .paragraph(
      "A gRPC sidecar. It stands beside a service and takes its calls on port 50052. Callers " +
        "who ask the same thing at the same time share one call to the backend; a 100 ms cache " +
        "covers the moment after. Only methods that read collapse, and only for callers with the " +
        "same credentials; everything else passes straight through.",
    )
    .heading("Usage")
    .verbatim("  collapser [COMMAND] [--flag VALUE ...]")
    .heading("Commands")
    .table(COMMANDS.map(({ name, summary }) => ({ term: name, meaning: summary })))
    .blank()
    .paragraph("collapser COMMAND --help says more; --version says which version this is.", 2)
    .heading("Example")
    .verbatim("  BACKEND_ADDRESS=127.0.0.1:50051 collapser")
    .blank()
    .paragraph(
      "Then point callers at port 50052 instead of 50051, and read what it saved at " +
        "http://127.0.0.1:2112/metrics. BACKEND_ADDRESS is all that must be set.",
      2,
    )
    .heading("Variables");
  listVariables(page);
  return page
    .blank()
    .paragraph("collapser serve --help explains each; as a flag, GRPC_PORT is --grpc-port.", 2)
    .heading("Exit codes")
    .table([
      { term: "0", meaning: "good" },
      { term: "1", meaning: "failed at run time: port taken, probe failed, second signal" },
      { term: "64", meaning: "bad usage or configuration; every problem is named" },
    ])
    .toString();
}

/** What `collapser COMMAND --help` prints. */
export function commandHelp(command: Command, options: { colour: boolean }): string {
  const { name, summary, usage, about, examples } = command;
  const page = new Page(options)
    .paragraph(`collapser ${name}: ${summary}`)
    .blank()
    .paragraph(about)
    .heading("Usage")
    .verbatim(`  collapser ${name} ${usage}`)
    .heading(examples.length === 1 ? "Example" : "Examples");
  for (const example of examples) page.verbatim(`  ${example}`);
  command.describeOptions(page);
  return page.toString();
}
