// Elements of the page. Text only ever goes in as text: nothing that a user types becomes markup.

/** @typedef {Record<string, string | number | boolean | null | undefined | EventListener>} Attributes */

/**
 * A new element. Attributes that are functions become listeners, `true` an empty attribute, `false` and null nothing.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") made.addEventListener(name, value);
        else if (value !== null && value !== undefined && value !== false) {
            made.setAttribute(name, value === true ? "" : String(value));
        }
    }
    made.append(...children.filter((child) => child !== null));
    return made;
}

/**
 * A control with its label.
 * @param {string} text
 * @param {HTMLElement} control
 * @param {string} [title] what it does, in a sentence
 */
export function labelled(text, control, title = "") {
    return el("label", { class: "hm-label", title: title || null }, el("span", {}, text), control);
}

/**
 * Offer a file for download.
 * @param {string} name
 * @param {BlobPart} content
 * @param {string} type
 */
export function download(name, content, type) {
    const url = URL.createObjectURL(new Blob([content], { type }));
    el("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Files that are dropped on an element, folders opened.
 * @param {HTMLElement} target
 * @param {(files: File[], folder: string) => void} use the files, and the name of the folder that they were in, if any
 */
export function acceptDrops(target, use) {
    // A selection that is dragged goes into a text box, as everywhere.
    const isText = (/** @type {DragEvent} */ event) => event.dataTransfer?.types?.includes("text/plain");
    target.addEventListener("dragover", (event) => {
        if (isText(event)) return;
        event.preventDefault();
        target.classList.add("hm-over");
    });
    target.addEventListener("dragleave", () => target.classList.remove("hm-over"));
    target.addEventListener("drop", async (event) => {
        if (isText(event)) return;
        event.preventDefault();
        target.classList.remove("hm-over");
        // Entries are gone once this handler has returned: take them all before the first await.
        const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
        /** @type {File[]} */
        const files = [];
        let folder = "";
        for (const entry of entries) {
            if (entry?.isDirectory) {
                folder = entry.name;
                const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
                const inside = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
                for (const each of inside) if (each.isFile) files.push(await fileOf(each));
            } else if (entry) files.push(await fileOf(/** @type {FileSystemFileEntry} */ (entry)));
        }
        use(files, folder);
    });
}

/** @param {FileSystemFileEntry} entry @returns {Promise<File>} */
function fileOf(entry) {
    return new Promise((resolve, reject) => entry.file(resolve, reject));
}
