import { VERSION } from "../config/mod.ts";

/** Where the release workflow publishes the sidecar's image. */
export const IMAGE_REPOSITORY = "ghcr.io/collapser/collapser";

/** The image of this version. A digest (`--image …@sha256:…`) is what a cluster should run. */
export const DEFAULT_IMAGE: string = `${IMAGE_REPOSITORY}:${VERSION}`;
