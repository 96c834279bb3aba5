// Elements of the page. Text only ever goes in as text: nothing that a user types becomes markup.

/** @typedef {Record<string, string | number | boolean | EventListener>} Attributes */

/** A new element. Attributes that are functions become listeners, `true` an empty attribute, `false` and null nothing.
 * @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {Attributes} [attributes]
 * @param {...(Node | string)} children @returns {HTMLElementTagNameMap[Tag]} */
export function el(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") made.addEventListener(name, value);
        else if (value !== false) made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children);
    return made;
}

/** A control with its label. @param {string} text @param {HTMLElement} control */
export const labelled = (text, control) => el("label", { class: "hm-label" }, el("span", {}, text), control);

/** Offer a file for download. @param {string} name @param {BlobPart} content @param {string} type */
export function download(name, content, type) {
    const url = URL.createObjectURL(new Blob([content], { type }));
    el("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Files that are dropped on an element, and the name of the folder that they were in, if any.
 * @param {HTMLElement} target @param {(files: File[], folder: string) => void} use */
export function acceptDrops(target, use) {
    for (const kind of ["dragover", "dragleave", "drop"]) target.addEventListener(kind, (/** @type {any} */ event) => {
        // A selection that is dragged goes into a text box, as everywhere.
        if (event.dataTransfer?.types?.includes("text/plain")) return;
        event.preventDefault();
        target.classList.toggle("hm-over", kind === "dragover");
        if (kind === "drop") read(Array.from(event.dataTransfer?.items ?? [], (item) => item.webkitGetAsEntry()));
    });

    // Entries are gone once their handler has returned.
    async function read(/** @type {any[]} */ dropped) {
        const folder = dropped.find((entry) => entry?.isDirectory);
        const inside = folder ? await new Promise((...ends) => folder.createReader().readEntries(...ends)) : dropped;
        const entries = inside.filter((/** @type {any} */ entry) => entry?.isFile);
        const files = entries.map((/** @type {any} */ entry) => new Promise((...ends) => entry.file(...ends)));
        use(await Promise.all(files), folder?.name ?? "");
    }
}

/** What went wrong, in one line. @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

export const plural = (/** @type {number} */ count, /** @type {string} */ what) =>
    `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
