// The Dynamics room.
import { el } from "./dom.js";

/**
 * @param {HTMLElement} root
 * @param {import("./main.js").Context} context
 * @returns {import("./main.js").Room}
 */
export function mountDynamics(root, context) {
    root.append(el("p", {}, `hardmax ${context.data.version}`));
    return { state: () => ({}), restore: () => undefined, keys: [] };
}
