// A tour of the Dynamics room in six steps. Each shows a cloud and a layer, and marks what it speaks of.
import { el } from "./dom.js";

/** `layer` is where the step ends: it plays from 0 to there, unless nothing is to move by itself. Of the selected token
 * the direction is drawn if `ray`; `rings` are drawn round tokens, and `lit` is what stands out on the page.
 * @typedef {{title: string, words: string, cloud: string, layer: number, show: string[], selected?: number,
 *     ray?: boolean, rings?: number[], lit: "canvas" | "verdict"}} TourStep
 * @typedef {import("./dynamics.js").DynamicsRoom} Room */

/** @type {TourStep[]} */
export const TOUR = [
    {
        title: "Look outward",
        words: "Every mark is a token. Token 7 looks outward: from the centre, through itself, and on (the arrow).",
        cloud: "triangle", layer: 0, show: ["numbers"], selected: 7, ray: true, lit: "canvas",
    },
    {
        title: "Choose",
        words: "It attends to the token that lies furthest along its arrow: token 1 (ringed). The numbers above tokens 1, 5 and 0 are their scores, the inner products with token 7: 1 has the largest. If several have it, token 7 attends to all of them.",
        cloud: "triangle", layer: 0, show: ["numbers"], selected: 7, ray: true, rings: [1], lit: "canvas",
    },
    {
        title: "Move",
        words: "Then all tokens move towards what they attend to, here a third of the way: α/(1+α) with the step size α = 1/2. That is one layer.",
        cloud: "triangle", layer: 1, show: ["numbers", "paths"], selected: 7, rings: [7], lit: "canvas",
    },
    {
        title: "Lead",
        words: "A token that attends only to itself is a leader (★) and never moves again. Token 1 first follows token 3; once that one has moved on, from layer 1 on, token 1 leads.",
        cloud: "emerging", layer: 1, show: ["paths", "numbers"], rings: [1], lit: "canvas",
    },
    {
        title: "The limit and its proof",
        words: "From some layer on no choice changes, so the limit after infinitely many layers is known exactly. The box says what is proved; “Certificate” saves the proof. Tokens 4 and 5 tie between two leaders for ever and end midway.",
        cloud: "nonleader", layer: Infinity, show: ["paths", "polytope", "cells"], rings: [4, 5], lit: "verdict",
    },
    {
        title: "Where floats go wrong",
        words: "The same cloud, rotated. Floats cannot store fifths: they miss both ties and send tokens 4 and 5 to the wrong place (✕). Exact fractions keep the ties (○). Now drag a token yourself.",
        cloud: "rotated", layer: Infinity, show: ["paths", "polytope"], rings: [], lit: "verdict",
    },
];

/** The box of the tour and what it does. @param {Room} room @param {Record<TourStep["lit"], HTMLElement>} parts */
export function buildTour(room, parts) {
    let at = -1; // the step that is shown; -1: none
    let before = /** @type {ReturnType<Room["remember"]> | null} */ (null);
    let opener = /** @type {Element | null} */ (null);
    const title = el("h2");
    const words = el("p");
    const back = el("button", { click: () => show(at - 1) }, "Back");
    const next = el("button", { click: () => (at === TOUR.length - 1 ? leave() : show(at + 1)) });
    const close = el("button", { click: () => leave(), title: "Back to what was there before (Esc)" }, "Leave the tour");
    const box = el("section", { class: "hm-tour", "aria-label": "Tour", hidden: true },
        el("div", { "aria-live": "polite" }, title, words), el("div", { class: "hm-row" }, next, back, close));
    return { box, start: () => show(0), show, leave, key, step: () => at };

    function show(/** @type {number} */ step) {
        if (!TOUR[step]) return;
        if (at < 0) [before, opener] = [room.remember(), document.activeElement];
        at = step;
        const { lit, ...shown } = TOUR[step];
        title.textContent = `${step + 1} of ${TOUR.length}: ${shown.title}`;
        words.textContent = shown.words;
        next.textContent = step === TOUR.length - 1 ? "Finish" : "Next";
        back.disabled = !step;
        box.hidden = false;
        light(lit);
        room.present(shown);
        next.focus({ preventScroll: true });
        parts[lit].scrollIntoView({ block: "nearest" });
        box.scrollIntoView({ block: "nearest" });
    }

    /** Back to what was there before, or, if another cloud was chosen, on with that. */
    function leave(restore = true) {
        if (at < 0) return;
        at = -1;
        box.hidden = true;
        light();
        room.marked = { ray: false, rings: [], spot: [] };
        if (restore && before) room.recall(before);
        if (restore && opener instanceof HTMLElement) opener.focus();
    }

    function light(/** @type {TourStep["lit"] | undefined} */ lit = undefined) {
        for (const [name, part] of Object.entries(parts)) part.classList.toggle("hm-lit", name === lit);
    }

    /** Whether a key was one of the tour's. @param {KeyboardEvent} event */
    function key({ key: pressed, target }) {
        if (at < 0) return false;
        const inside = target instanceof Node && box.contains(target);
        if (pressed === "Escape") leave();
        else if (inside && pressed === "ArrowRight") show(at + 1);
        else if (inside && pressed === "ArrowLeft") show(at - 1);
        else return false;
        return true;
    }
}
