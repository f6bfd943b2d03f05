export { bundleControllers, bundlePermissions } from "./bundle-controllers.ts";
export type { BundleControllersOptions } from "./bundle-controllers.ts";
