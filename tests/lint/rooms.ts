/**
 * Lint plugin that holds `lib/` to the plan in `plan.ts`: which room may import which, what a pure
 * room may not touch, where a package enters, who owns the environment and the sockets, and that a
 * doc comment can be read alone.
 *
 * The rules look at names, not at values: they are there to keep an honest hand on the plan, not to
 * stop a clever one.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import {
  DOORS,
  EFFECTS,
  type Folder,
  LEANING_OPENERS,
  MAIN,
  OWNERS,
  PURE_MODULES,
  type Room,
  ROOMS,
} from "./plan.ts";

/** What a doc comment must not open with; the second half is a word before a pronoun. */
const LEANING = new RegExp(
  `^(?:(?:${LEANING_OPENERS.join("|")})(?!\\w)|[^\\s.,:;]+ (?:it|they|them)\\b)`,
);

/** Where this checkout stands, since a folder above it may be called `lib` as well. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

interface Import {
  /** Undefined where it is computed. */
  readonly specifier: string | undefined;
  readonly typeOnly: boolean;
  readonly node: Deno.lint.Node;
}

const importDirection: Deno.lint.Rule = {
  create(context) {
    const file = pathOf(context.filename);
    const from = placeOf(file);
    if (from === undefined) return {};
    if (from.room === undefined) {
      return {
        Program(node) {
          context.report({ node, message: `${from.name} is not in the room table` });
        },
      };
    }
    const { name, room } = from;
    return onImports(({ specifier, typeOnly, node }) => {
      const message = specifier === undefined
        ? "Cannot check a computed import: write the specifier out"
        : importFault({ name, room, typeOnly, file }, resolve(file, specifier));
      if (message !== undefined) context.report({ node, message });
    });
  },
};

const purity: Deno.lint.Rule = {
  create(context) {
    const place = placeOf(pathOf(context.filename));
    if (place?.room?.pure === undefined) return {};

    function forbid(node: Deno.lint.Node, what: string): void {
      context.report({ node, message: `${place?.name} is pure: no ${what}` });
    }

    function checkFunction(node: Deno.lint.Node & { async: boolean }): void {
      if (node.async) forbid(node, "async function");
    }

    return {
      ...onImports(({ specifier, node }) => {
        if (!specifier?.startsWith("node:") || PURE_MODULES.has(specifier)) return;
        forbid(node, specifier);
      }),
      Identifier(node) {
        if (EFFECTS.has(node.name) && isReference(node)) forbid(node, node.name);
      },
      MemberExpression(node) {
        if (memberName(node) === "Math.random") forbid(node, "Math.random");
      },
      FunctionDeclaration: checkFunction,
      FunctionExpression: checkFunction,
      ArrowFunctionExpression: checkFunction,
      AwaitExpression(node) {
        forbid(node, "await");
      },
      ForOfStatement(node) {
        if (node.await) forbid(node, "await");
      },
    };
  },
};

const oneDoor: Deno.lint.Rule = {
  create(context) {
    const file = pathOf(context.filename);
    if (placeOf(file) === undefined) return {};
    return onImports(({ specifier, node }) => {
      if (specifier === undefined || isRelative(specifier) || specifier.startsWith("node:")) return;
      const door = DOORS[packageOf(specifier)];
      if (door === file) return;
      context.report({
        node,
        message: door === undefined
          ? `"${specifier}" has no door: give it one file in the table of doors`
          : `"${specifier}" enters through ${door} alone`,
      });
    });
  },
};

const ambientOwner: Deno.lint.Rule = {
  create(context) {
    const file = pathOf(context.filename);
    if (placeOf(file) === undefined) return {};

    function check(node: Deno.lint.Node, what: string | undefined): void {
      const owners = what === undefined ? undefined : OWNERS[what];
      if (owners === undefined || owners.some((owner) => isWithin(file, owner))) return;
      context.report({ node, message: `${what} belongs to ${owners.join(", ")}` });
    }

    return {
      ...onImports(({ specifier, node }) => check(node, specifier)),
      ImportSpecifier(node) {
        if (node.parent.source?.value !== "node:process") return;
        if (node.imported.type === "Identifier") check(node, `process.${node.imported.name}`);
      },
      MemberExpression(node) {
        const name = memberName(node);
        if (name === "globalThis.Deno" || name === "globalThis.process") {
          context.report({ node, message: `Write ${name.slice("globalThis.".length)} alone` });
        }
        check(node, name);
      },
      TSQualifiedName(node) {
        if (node.left.type === "Identifier") check(node, `${node.left.name}.${node.right.name}`);
      },
      Identifier(node) {
        // An alias would carry a member past this rule.
        if (node.name !== "Deno" || !isReference(node)) return;
        if (node.parent.type === "MemberExpression" || node.parent.type === "TSQualifiedName") {
          return;
        }
        context.report({ node, message: "Write Deno.member where it is used, without an alias" });
      },
    };
  },
};

const commentSubject: Deno.lint.Rule = {
  create(context) {
    const file = pathOf(context.filename);
    if (placeOf(file) === undefined) return {};
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const opener = LEANING.exec(docText(comment))?.[0];
          if (opener === undefined) continue;
          context.report({
            range: comment.range,
            message: `Name what the comment is about: "${opener}" leans on a neighbour`,
          });
        }
      },
    };
  },
};

export default {
  name: "rooms",
  rules: {
    "import-direction": importDirection,
    purity,
    "one-door": oneDoor,
    "ambient-owner": ambientOwner,
    "comment-subject": commentSubject,
  },
} satisfies Deno.lint.Plugin;

/** The path below {@link ROOT}, with forward slashes. */
function pathOf(filename: string): string {
  return filename.startsWith(ROOT) ? filename.slice(ROOT.length).replaceAll("\\", "/") : filename;
}

/** The room a file is in; undefined where the rules do not reach, without `room` where none is known. */
function placeOf(file: string): { name: string; room: Room | undefined } | undefined {
  if (file === "main.ts") return { name: "main.ts", room: MAIN };
  const name = /^lib\/([^/]+)\//.exec(file)?.[1];
  if (name === undefined) return undefined;
  const room = Object.hasOwn(ROOMS, name) ? ROOMS[name] : undefined;
  const folder = folderOf(file);
  if (room?.folders !== undefined && folder !== undefined && !Object.hasOwn(room.folders, folder)) {
    return { name: `lib/${name}/${folder}`, room: undefined };
  }
  return { name: `lib/${name}`, room };
}

/** The folder of its room that a file is in; undefined for one that stands beside the folders. */
function folderOf(file: string): string | undefined {
  return /^lib\/[^/]+\/([^/]+)\//.exec(file)?.[1];
}

/** What is wrong with an import of `target`; undefined for a package and for what is allowed. */
function importFault(
  from: { name: string; room: Room; typeOnly: boolean; file: string },
  target: string | undefined,
): string | undefined {
  if (target === undefined) return undefined;
  if (target.startsWith(`${from.name}/`)) return folderFault(from, target);
  const to = /^lib\/([^/]+)\//.exec(target)?.[1];
  if (to === undefined) {
    // The version is read from where it is declared.
    if (target === "deno.json" && from.room.pure === undefined) return undefined;
    return `${from.name} may not import ${target}`;
  }
  return doorFault({ ...from, knows: from.room }, { within: "lib", to, target });
}

/** What is wrong with an import within a room: nothing, unless it leaves a folder of a divided one. */
function folderFault(
  from: { name: string; room: Room; typeOnly: boolean; file: string },
  target: string,
): string | undefined {
  const { name, room: { folders }, typeOnly, file } = from;
  const [own, to] = [folderOf(file), folderOf(target)];
  if (folders === undefined || own === to) return undefined;
  if (to === undefined) return `${name}/${own} may not import ${target}`;
  // What stands beside the folders is the room's own door, or behind it: it may know all of them.
  const knows = own === undefined ? { imports: Object.keys(folders) } : folders[own]!;
  const named = own === undefined ? name : `${name}/${own}`;
  return doorFault({ name: named, knows, typeOnly }, { within: name, to, target });
}

/** What is wrong with an import of `target`, which is in the folder `to` of `within`. */
function doorFault(
  from: { name: string; knows: Folder; typeOnly: boolean },
  { within, to, target }: { within: string; to: string; target: string },
): string | undefined {
  if (!from.knows.imports.includes(to)) {
    if (!from.knows.types?.includes(to)) return `${from.name} may not import ${within}/${to}`;
    if (!from.typeOnly) return `${from.name} may import types alone from ${within}/${to}`;
  }
  const door = `${within}/${to}/mod.ts`;
  return target === door ? undefined : `Import ${within}/${to} through its mod.ts`;
}

/** Visits every way of importing: declarations, re-exports, `import()`, and `import()` types. */
function onImports(visit: (found: Import) => void): Deno.lint.LintVisitor {
  function found(node: Deno.lint.Node, specifier: unknown, typeOnly: boolean): void {
    visit({ node, specifier: typeof specifier === "string" ? specifier : undefined, typeOnly });
  }
  return {
    ImportDeclaration(node) {
      found(node, node.source.value, node.importKind === "type");
    },
    ExportNamedDeclaration(node) {
      if (node.source !== null) found(node, node.source.value, node.exportKind === "type");
    },
    ExportAllDeclaration(node) {
      found(node, node.source.value, node.exportKind === "type");
    },
    ImportExpression(node) {
      found(node, node.source.type === "Literal" ? node.source.value : undefined, false);
    },
    TSImportType(node) {
      const { argument } = node;
      const literal = argument.type === "TSLiteralType" ? argument.literal : argument;
      found(node, literal.type === "Literal" ? literal.value : undefined, true);
    },
  };
}

/** The words of a doc comment on one line, without its asterisks; "" for any other comment. */
function docText({ type, value }: Deno.lint.LineComment | Deno.lint.BlockComment): string {
  if (type !== "Block" || !value.startsWith("*")) return "";
  return value.slice(1).replaceAll(/\s*\n\s*\*? ?/g, " ").trim();
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith("./") || specifier.startsWith("../");
}

/** The package of a specifier that may go on into it: `a/b.js` is in `a`, `@a/b/c.js` in `@a/b`. */
function packageOf(specifier: string): string {
  return specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

/** The path a relative specifier means, seen from `file`; undefined for a package. */
function resolve(file: string, specifier: string): string | undefined {
  if (!isRelative(specifier)) return undefined;
  const path = file.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") path.pop();
    else if (part !== ".") path.push(part);
  }
  return path.join("/");
}

function isWithin(file: string, owner: string): boolean {
  return owner.endsWith("/") ? file.startsWith(owner) : file === owner;
}

/** `a.b` for the member `b` of the plain name `a`, also where it is written `a["b"]`. */
function memberName(node: Deno.lint.MemberExpression): string | undefined {
  if (node.object.type !== "Identifier") return undefined;
  const { property } = node;
  if (!node.computed && property.type === "Identifier") {
    return `${node.object.name}.${property.name}`;
  }
  return property.type === "Literal" ? `${node.object.name}.${property.value}` : undefined;
}

/** False for a name that only labels a member: `x.fetch`, `{ fetch: 1 }`, `class { fetch() {} }`. */
function isReference(node: Deno.lint.Identifier): boolean {
  const { parent } = node;
  switch (parent.type) {
    case "MemberExpression":
      return parent.computed || parent.object === node;
    case "TSQualifiedName":
      return parent.left === node;
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
    case "TSPropertySignature":
    case "TSMethodSignature":
      return parent.computed || parent.key !== node;
    case "ImportSpecifier":
    case "ExportSpecifier":
      return false;
    default:
      return true;
  }
}
