const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text that a page shows as it is, in an attribute too: names and addresses come from whoever ran the command. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}

/** A table: the first cell of each row is its heading. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const heads = head.map((cell) => `<th scope="col">${escaped(cell)}</th>`).join("");
  const body = rows.map(([first = "", ...cells]) =>
    `<tr><th scope="row">${escaped(first)}</th>${
      cells.map((cell) => `<td>${escaped(cell)}</td>`).join("")
    }</tr>`
  ).join("\n");
  return `<div class="scroll"><table><thead><tr>${heads}</tr></thead><tbody>\n${body}\n</tbody></table></div>`;
}
