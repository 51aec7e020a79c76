import type { Kind } from "./kind.ts";

/** Permissions of a file in the digits of chmod(1): owner, group, others. */
export const OCTAL_MODE: Kind<number> = {
  placeholder: "MODE",
  parse(text) {
    return /^0?[0-7]{3}$/.test(text)
      ? { value: parseInt(text, 8) }
      : { why: "expected an octal mode from 0000 to 0777, such as 0660" };
  },
  show: (mode) => mode.toString(8).padStart(4, "0"),
};
