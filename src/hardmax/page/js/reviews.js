// The Reviews room.
import { el } from "./dom.js";

/**
 * @param {HTMLElement} root
 * @param {import("./main.js").Context} context
 * @returns {import("./main.js").Room}
 */
export function mountReviews(root, context) {
    root.append(el("p", {}, `${context.data.models?.length ?? 0} models`));
    return { state: () => ({}), restore: () => undefined, keys: [] };
}

/** Classify with a model of the page. @param {string} text @param {string} [model] */
export function classifyHere(text, model) {
    throw new Error(`not yet: ${text} ${model}`);
}
