/** Name of the CSIDriver object, of the volumes' `driver`, and of the plugin's folder. */
export const DRIVER_NAME = "projected-resource.storage.openshift.io";
