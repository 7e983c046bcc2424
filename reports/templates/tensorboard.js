// The tab of TensorBoard: a list of profiles, the report on one, and what changed between two.

function option(name) {
  const made = document.createElement("option");
  made.value = made.textContent = name;
  return made;
}

function chooser(label, names, first) {
  const box = document.createElement("label");
  const select = document.createElement("select");
  box.append(`${label} `, select);
  select.append(...(first ? [first] : []), ...names.map(option));
  return [box, select];
}

export async function render() {
  document.body.style.cssText = "margin:0;height:100vh;display:flex;flex-direction:column;font:14px sans-serif";
  const bar = document.createElement("form");
  bar.style.cssText = "display:flex;gap:1.5em;align-items:center;padding:.6em 1em";
  const status = document.createElement("span");
  status.setAttribute("role", "status");
  const names = await (await fetch("./runs")).json();
  if (!names.length) {
    document.body.append("There is no profile in this log folder.");
    return;
  }
  const none = option("");
  none.textContent = "nothing";
  const [run, after] = [chooser("Profile", names), chooser("compared with the earlier", names, none)];
  bar.append(run[0], after[0], status);
  const frame = document.createElement("iframe");
  frame.title = "tpudiag's report";
  frame.style.cssText = "flex:1;border:0;width:100%";
  document.body.append(bar, frame);
  const show = () => {
    const [now, before] = [run[1].value, after[1].value].map(encodeURIComponent);
    status.textContent = "Reading the profile …";
    frame.src = before ? `./compare?a=${before}&b=${now}` : `./report?run=${now}`;
  };
  frame.addEventListener("load", () => { status.textContent = ""; });
  bar.addEventListener("change", show);
  show();
}
