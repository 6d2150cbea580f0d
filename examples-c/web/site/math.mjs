// The formulas of the pages as plain HTML, which needs no script and no font of its own: the part of LaTeX that the pages use. Anything
// else is an error.

const letters = {
  alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", eta: "η", theta: "θ", kappa: "κ", lambda: "λ", mu: "μ", pi: "π", rho: "ρ",
  sigma: "σ", tau: "τ", phi: "φ", psi: "ψ", ell: "ℓ", nabla: "∇", infty: "∞",
};
const operators = {
  cdot: "·", times: "×", leq: "≤", geq: "≥", neq: "≠", leftarrow: "←", sim: "∼", in: "∈", sum: "∑", prod: "∏", pm: "±", ldots: "…", mid: "|",
  lvert: "|", rvert: "|", lVert: "‖", rVert: "‖",
};
const named = ["min", "max", "log", "exp", "clip", "tanh", "sign", "arg"];
const accents = { hat: "\u0302", tilde: "\u0303" }; // behind the letter that they stand above
const spaces = { ",": "0.17em", ";": "0.28em", quad: "1em" };

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const span = (kind, inside) => `<span class="${kind}">${inside}</span>`;
const sign = (text) => span("sign", escaped(text));
const tight = (text) => span("tight", escaped(text));

// One line of LaTeX as HTML.
function line(source) {
  const tokens = source.match(/\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\S/g) ?? [];
  let at = 0;
  const fail = (why) => { throw new Error(`${why} in the formula ${source}`); };
  const group = () => {
    if (tokens[at] !== "{") return atom();
    at++;
    const inside = sequence("}");
    return inside.join("");
  };
  const text = () => {
    if (tokens[at] !== "{") fail("no {");
    const end = tokens.indexOf("}", at), words = tokens.slice(at + 1, end);
    at = end + 1;
    return words;
  };
  const atom = () => {
    const token = tokens[at++] ?? fail("an end too early");
    if (token === "{") return at--, group();
    if (/^\d/.test(token)) return token;
    if (/^[A-Za-z]$/.test(token)) return `<i>${token}</i>`;
    if (token === ",") return span("comma", ",");
    if (!token.startsWith("\\")) return "()[]|.".includes(token) ? tight(token) : sign(token === "-" ? "−" : token);
    const name = token.slice(1);
    if (name === "frac") return span("frac", span("over", group()) + span("under", group()));
    if (name === "mathbb") return tight({ E: "𝔼" }[text().join("")] ?? fail("a letter"));
    if (name === "mathcal") return tight({ H: "ℋ", N: "𝒩", L: "ℒ" }[text().join("")] ?? fail("a letter"));
    if (name === "text") return escaped(words());
    if (name === "bar") return span("bar", group());
    if (accents[name]) return group().replace(/(?=<\/i>$)/, accents[name]);
    if (name === "left" || name === "right") {
      if (name === "right") fail("\\right without \\left");
      const open = tokens[at++], inside = sequence("\\right").join(""), close = tokens[at++];
      const kind = /class="(frac|limits)"/.test(inside) ? "tall" : "tight";
      return span(kind, escaped(open)) + inside + span(kind, escaped(close));
    }
    if (spaces[name]) return `<span style="margin-left: ${spaces[name]}"></span>`;
    if (letters[name]) return `<i>${letters[name]}</i>`;
    if (named.includes(name)) return span("name", name);
    if (["sum", "prod"].includes(name)) return span("large", operators[name]);
    if (["nabla", "lvert", "rvert", "lVert", "rVert", "ldots"].includes(name)) return tight(operators[name] ?? letters[name]);
    if (name in operators) return sign(operators[name]);
    return fail(`\\${name}`);
  };
  // Spaces count in \text, which tokens do not keep.
  const words = () => {
    const all = [...source.matchAll(/\\text\{([^}]*)\}/g)].map((match) => match[1]);
    const index = tokens.slice(0, at).filter((token) => token === "\\text").length - 1;
    text();
    return all[index];
  };
  const scripted = () => {
    const base = atom();
    let below, above, prime = "";
    for (;;) {
      if (tokens[at] === "_") at++, below = group();
      else if (tokens[at] === "^") at++, above = group();
      else if (tokens[at] === "'") at++, prime += "′";
      else break;
    }
    if (/class="large"|class="name">(min|max)</.test(base.slice(0, 30)))
      return span("limits", span("over", above ?? "") + base + span("under", below ?? ""));
    if (below && above) return base + prime + span("scripts", `<sup>${above}</sup><sub>${below}</sub>`);
    return base + prime + (below ? `<sub>${below}</sub>` : above ? `<sup>${above}</sup>` : "");
  };
  const sequence = (end) => {
    const parts = [];
    while (at < tokens.length && tokens[at] !== end) parts.push(scripted());
    if (end && tokens[at++] !== end) fail(`no ${end}`);
    return parts;
  };
  return sequence().join("");
}

// A block of formulas, one a line, each its own.
export function math(source) {
  const lines = source.split("\n").filter((text) => text.trim());
  return lines.map((text) => `<div class="math" role="math" aria-label="${escaped(text).replace(/"/g, "&quot;")}"><span class="formula">${line(text)}</span></div>`).join("\n");
}
