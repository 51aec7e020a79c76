/** The charting library of the page, as it is sent to browsers: text here, never run in this process. */
export { default as UPLOT_CSS } from "uplot/dist/uPlot.min.css" with { type: "text" };
export { default as UPLOT_JS } from "uplot/dist/uPlot.iife.min.js" with { type: "text" };
