/** Settings with which nothing can start, though each of them by itself can be read. */
export class BadConfiguration extends Error {
  override name = "BadConfiguration";
  /** All that is wrong, each naming its variable. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}
