"""Pages and pictures of what was measured: one file each, readable without a network and without trust in the data.

A page is a shell (`page.py`), one JSON document and our own style and script from `assets/`, all in one file:

    page(title, document, scripts=("card.js", "run.js"))  →  HTML as text, the same bytes for the same input

Conventions, for whoever adds a page:

- The document is plain JSON with a field `kind`. It is what `--json` prints, so a page shows no number that the
  document does not hold. Values that came from outside pass through `plain.shown`, which bounds them.
- `assets/base.css` and `assets/components.js` are in every page. A page names the further scripts it needs, in
  order; all of them become one script with one scope, so a top-level name must be unique over the whole folder.
- A script says `pages.<kind> = (data, main) => { … }` and builds nodes into `main`. Nodes are made with `h()` and
  drawings with `s()`; both set attributes and text and nothing else. There is no innerHTML, no style attribute and no
  handler in an attribute: the policy in the page allows the hashes of our own script and style alone, so even markup
  that slipped in could not run.
- Lengths, colours and states are classes of `base.css`. Every colour is a variable with a light and a dark value.
  What is strong, weak, missed or extra, solved or not, has a glyph beside its colour (`mark`, `badge`).
- Numbers are written with `fixed`, which rounds as Python does, so a page, a PNG and a text agree to the digit.
- What can be clicked is a real button, link or summary. Long lists go through `more`, costly contents through
  `disclosure`, which builds them when they are opened.
"""
