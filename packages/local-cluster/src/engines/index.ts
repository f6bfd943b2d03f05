export { ENGINE_VERSIONS, engineRecipe } from "./engine-recipe.ts";
export type { EngineName, EngineRecipe, EngineVersion } from "./engine-recipe.ts";
export { provideEngineImage } from "./provide-engine-image.ts";
export type { EngineImage, EngineImageRequest } from "./provide-engine-image.ts";
export { provideEngineHome } from "./provide-engine-home.ts";
export type { ProvideEngineHomeOptions } from "./provide-engine-home.ts";
