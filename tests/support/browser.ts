import { chromium } from "playwright-core";
export { chromium };
