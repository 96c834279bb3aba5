"use strict";
(async () => {
  const [input, list, told, data] = document.querySelectorAll("[id^=hardmax-]");
  const bytes = Uint8Array.from(atob(data.textContent), (mark) => mark.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { heads, words, rules, places } = await new Response(stream).json();
  const signed = (vote) => (vote < 0 ? "" : "+") + vote.toFixed(3);
  const el = (name, text = "", ...parts) => {
    const made = document.createElement(name);
    made.textContent = text;
    made.append(...parts);
    return made;
  };
  const matches = (name, part) => name[0] === "*" ? part.endsWith(name.slice(1)) : name.at(-1) === "*" ? part.startsWith(name.slice(0, -1)) : name === part;
  const row = (name, votes) => el("tr", "", el("th", name), ...votes.map((vote) => el("td", signed(vote))));

  function tell([word, seen, ...numbers]) {
    const alone = numbers.slice(0, heads.length), here = numbers.slice(heads.length);
    const own = rules.find(([name]) => name === word), rows = [row("on its own", alone)];
    const facts = [own ? `A modifier: it multiplies votes after it by ${own[1]} and adds ${signed(own[2])}` : `In ${seen.toLocaleString("en")} training texts`];
    if (places && !own) {
      facts.push(`in ${(100 * here.pop()).toFixed(1)} % of the texts below`);
      rows.push(row("mean over the texts below", here));
    }
    const alike = new Map(), phrase = word.split(" ");  // with a modifier in it, it attends to itself
    for (const rule of rules.some(([name]) => phrase.some((part) => matches(name, part))) ? [] : rules) {
      const key = rule.slice(1).join();
      alike.set(key, [...(alike.get(key) ?? []), rule]);
    }
    for (const same of alike.values()) {
      const [[, factor, shift]] = same, names = same.slice(0, 3).map(([name]) => name).join(", ");
      rows.push(row(`after ${names}${same[3] ? " …" : ""}`, alone.map((vote) => factor * vote + shift)));
    }
    const top = el("tr", "", el("td"), ...heads.map((head) => el("th", head)));
    const table = el("table", "", el("thead", "", top), el("tbody", "", ...rows));
    table.className = "hardmax-index";
    told.replaceChildren(el("h3", word), el("p", `${facts.join("; ")}.`), table);
    for (const [, vote, cut, label] of places?.filter((place) => place[0] === word) ?? []) {
      const text = cut.replace(/<[^>]*>?/g, " "), at = ` ${text}`.toLowerCase().indexOf(` ${word}`), end = at < 0 ? at : at + word.length;
      const footer = el("footer", `${signed(vote)}, in a text that is judged ${label}`);
      told.append(el("blockquote", "", text.slice(0, Math.max(at, 0)), el("mark", text.slice(at, end)), text.slice(end), footer));
    }
  }

  input.oninput = () => {
    const typed = input.value.trim().toLowerCase(), found = words.filter(([word]) => ` ${word}`.includes(` ${typed}`));
    found.sort((a, b) => (b[0] === typed) - (a[0] === typed));
    list.replaceChildren(...found.slice(0, 12).map((one) => {
      const button = el("button", one[0]);
      button.onclick = () => tell(one);
      return el("li", "", button, ` ${one.slice(2, heads.length + 2).map(signed).join(" ")}`);
    }));
    if (found[0]) tell(found[0]);
    else told.replaceChildren(el("p", "The model has no vote for this word."));
  };
  input.oninput();
})();
