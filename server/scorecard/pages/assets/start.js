/* Last in every page: shows the document with the function of its kind. */

function start() {
  const root = document.getElementById("page");
  const data = JSON.parse(document.getElementById("data").textContent);
  pages[data.kind](data, root);
  document.documentElement.dataset.ready = "yes";
}

start();
