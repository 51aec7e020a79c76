/** The command did what it was asked. */
export const GOOD = 0;

/** The command failed at run time: a port taken, a probe that failed, a second signal. */
export const FAILED = 1;

/** Bad usage or configuration: EX_USAGE of sysexits.h. */
export const BAD_USAGE = 64;
