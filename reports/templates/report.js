"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const COLOURS = {
    light: ["#0b5cad", "#b45309", "#1a7f4b", "#a3308f", "#6b7280", "#b3261e", "#0e7c86", "#6d4bc3"],
    dark: ["#6ea8fe", "#f0a84b", "#5fce93", "#e58ad3", "#a3adb9", "#ff8f85", "#5cc8d2", "#b9a1ff"],
  };
  const FEW_STEPS = 60;
  const GIB = 2 ** 30;
  const printing = matchMedia("print");
  const dark = matchMedia("(prefers-color-scheme: dark)");

  /* Plotly reads a small HTML in texts: names of the user's stay text. */
  const plain = (text) =>
    String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const shortened = (text, most) =>
    plain(text.length > most ? text.slice(0, most - 1) + "\u2026" : text);
  const ofKind = (kind) => data.series.filter((series) => series.kind === kind);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const palette = () => COLOURS[dark.matches && !printing.matches ? "dark" : "light"];

  function layout(xTitle, yTitle, more) {
    const axis = { gridcolor: colour("--grid"), zerolinecolor: colour("--line"), automargin: true };
    return {
      height: 320,
      margin: { l: 56, r: 16, t: 28, b: 48 },
      font: { family: "system-ui, sans-serif", size: 12, color: colour("--text") },
      paper_bgcolor: colour("--page"),
      plot_bgcolor: colour("--page"),
      colorway: palette(),
      hoverlabel: { font: { color: "#ffffff" }, bgcolor: "#1f2328" },
      legend: { orientation: "h", y: -0.25, yanchor: "top" },
      ...more,
      xaxis: { ...axis, title: { text: xTitle }, ...more?.xaxis },
      yaxis: { ...axis, title: { text: yTitle }, rangemode: "tozero", ...more?.yaxis },
    };
  }

  function median(values) {
    const known = values.filter((value) => value !== null).sort((a, b) => a - b);
    if (!known.length) return null;
    const half = known.length >> 1;
    return known.length % 2 ? known[half] : (known[half - 1] + known[half]) / 2;
  }

  const INSIDE = { x: 1, xanchor: "right", yanchor: "bottom" };
  const OUTSIDE = { x: 1.01, xanchor: "left", yanchor: "middle" };

  const mark = (axis, value, text, name, edge = INSIDE) => ({
    shapes: [{
      type: "line", line: { color: colour(name), width: 1.5, dash: "dash" },
      ...(axis === "y"
        ? { xref: "paper", x0: 0, x1: 1, y0: value, y1: value }
        : { yref: "paper", y0: 0, y1: 1, x0: value, x1: value }),
    }],
    annotations: [{
      text, showarrow: false, font: { color: colour(name) }, bgcolor: colour("--page"),
      ...(axis === "y"
        ? { xref: "paper", ...edge, y: value }
        : { yref: "paper", y: 1, yanchor: "bottom", x: value, xanchor: "center" }),
    }],
  });

  const drawings = {
    steps() {
      const [steps] = ofKind("step_time");
      const middle = median(steps.y);
      return {
        traces: [{
          type: "scatter", mode: steps.x.length > FEW_STEPS ? "lines" : "lines+markers",
          x: steps.x, y: steps.y, hovertemplate: "step %{x}: %{y:.4g} ms<extra></extra>",
        }],
        layout: layout("step", "ms", {
          margin: { l: 56, r: 60, t: 28, b: 48 }, ...mark("y", middle, "median", "--soft", OUTSIDE),
        }),
      };
    },
    distribution() {
      const [steps] = ofKind("step_time");
      const middle = median(steps.y);
      return {
        traces: [{
          type: "histogram", x: steps.y, nbinsx: 40,
          hovertemplate: "%{x} ms: %{y} steps<extra></extra>",
        }],
        layout: layout("step time, ms", "steps", {
          yaxis: steps.y.length < FEW_STEPS / 2 ? { dtick: 1 } : {}, bargap: 0.05, ...mark("x", middle, "median", "--soft"),
        }),
      };
    },
    parts() {
      const parts = ofKind("step_part");
      const few = parts.every((part) => part.x.length <= FEW_STEPS);
      return {
        traces: parts.map((part) => ({
          name: plain(part.name), x: part.x, y: part.y,
          hovertemplate: `step %{x}, ${plain(part.name).replace(/%/g, "&#37;")}: %{y:.4g} ms<extra></extra>`,
          ...(few ? { type: "bar" } : { type: "scatter", mode: "lines", stackgroup: "step", line: { width: 0.5 } }),
        })),
        layout: layout("step", "ms", { barmode: "stack", bargap: 0.15, showlegend: true }),
      };
    },
    ledger() {
      const uses = ofKind("ledger");
      return {
        traces: uses.map((use) => ({
          type: "bar", name: plain(use.name), x: use.x, y: use.y,
          hovertemplate: `minute %{x}, ${plain(use.name).replace(/%/g, "&#37;")}: %{y:.3g} %<extra></extra>`,
        })),
        layout: layout("minutes since the job began", "% of the time", {
          barmode: "stack", bargap: 0, showlegend: true, yaxis: { range: [0, 100] },
        }),
      };
    },
    memory() {
      const memory = ofKind("memory");
      const limits = [...new Set(memory.map((each) => each.limit).filter((limit) => limit !== null))];
      const marks = limits.map((limit) =>
        mark("y", limit / GIB, `limit ${(limit / GIB).toPrecision(4)} GiB`, "--error"));
      return {
        traces: memory.map((each, index) => ({
          type: "scatter", mode: "lines", name: plain(each.name), x: each.x,
          y: each.y.map((bytes) => (bytes === null ? null : bytes / GIB)),
          line: { shape: "hv", dash: ["solid", "dot", "dash", "dashdot"][index % 4] },
          hovertemplate: "%{x:.4g} ms: %{y:.4g} GiB",
        })),
        layout: layout("ms since the capture began", "GiB", {
          showlegend: true,
          shapes: marks.flatMap((each) => each.shapes),
          annotations: marks.flatMap((each) => each.annotations),
        }),
      };
    },
    plan() {
      const batch = (row) => row.batch_per_replica, rate = (row) => row.examples_per_second_per_chip;
      const targets = [...new Set(data.plan.map((row) => row.target))];
      const traces = [], shapes = [], annotations = [];
      targets.forEach((target, index) => {
        const rows = data.plan.filter((row) => row.target === target).sort((a, b) => batch(a) - batch(b));
        const fitting = rows.filter((row) => row.fits && rate(row) !== null);
        const over = rows.filter((row) => !row.fits);
        const tint = palette()[index % palette().length];
        const symbol = ["circle", "square", "diamond", "triangle-up"][index % 4];
        traces.push({
          type: "scatter", mode: "lines+markers", name: plain(target || "fits"), line: { color: tint },
          marker: { symbol, size: 9 }, x: fitting.map(batch), y: fitting.map(rate),
          hovertemplate: "batch %{x:,}: %{y:,.4s}",
        });
        if (!over.length) return;
        const last = rows.filter((row) => row.fits).at(-1);
        const wall = last ? Math.sqrt(batch(last) * batch(over[0])) : batch(over[0]);
        traces.push({
          type: "scatter", mode: "markers", name: plain(`${target} does not fit`), cliponaxis: false,
          marker: { symbol: "x", size: 10, color: tint },
          x: over.map(batch), y: over.map((row) => rate(row) ?? 0),
          hovertemplate: "batch %{x:,}: does not fit",
        });
        const one = mark("x", wall, `out of memory${target ? ` (${plain(target)})` : ""}`, "--error");
        one.annotations[0].x = Math.log2(wall) / Math.log2(10);
        one.annotations[0].y = 1 - 0.09 * index;
        shapes.push(...one.shapes);
        annotations.push(...one.annotations);
      });
      const batches = [...new Set(data.plan.map(batch))].sort((a, b) => a - b);
      return {
        traces,
        layout: layout("batch a replica", "examples/s a chip", {
          shapes, annotations, showlegend: true,
          xaxis: { type: "log", tickvals: batches, ticktext: batches.map(String) },
        }),
      };
    },
    prediction() {
      const steps = data.predictions;
      const bounds = [...new Set(steps.flatMap((step) => Object.keys(step.split_ms)))];
      return {
        traces: bounds.map((bound) => ({
          type: "bar", orientation: "h", name: plain(bound),
          y: steps.map((step) => plain(step.target)), x: steps.map((step) => step.split_ms[bound] ?? 0),
          hovertemplate: `${plain(bound).replace(/%/g, "&#37;")}: %{x:.4g} ms<extra></extra>`,
        })).concat([{
          type: "scatter", mode: "markers", name: "whole step, with its range",
          marker: { symbol: "diamond", size: 10, color: colour("--text") },
          y: steps.map((step) => plain(step.target)), x: steps.map((step) => step.step_ms),
          error_x: {
            type: "data", symmetric: false, color: colour("--text"),
            array: steps.map((step) => step.high_ms - step.step_ms),
            arrayminus: steps.map((step) => step.step_ms - step.low_ms),
          },
          hovertemplate: "predicted: %{x:.4g} ms<extra></extra>",
        }]),
        layout: layout("ms, predicted", "", {
          height: Math.min(190 + 40 * steps.length, 700), barmode: "stack", showlegend: true,
          xaxis: { rangemode: "tozero" }, yaxis: { rangemode: "normal", autorange: "reversed" },
        }),
      };
    },
    roofline() {
      const kinds = ofKind("roofline").filter((each) => each.limit !== null);
      const [{ limit, limit_per_x: slope }] = kinds;
      const intensities = kinds.flatMap((each) => each.x).filter((x) => x > 0);
      const ridge = slope ? limit / slope : Math.min(...intensities);
      const ends = [Math.min(ridge, ...intensities) / 3, ridge, Math.max(ridge, ...intensities) * 3];
      const roof = ends.map((x) => (slope ? Math.min(limit, x * slope) : limit));
      return {
        traces: [{
          type: "scatter", mode: "lines", name: "the chip's roof", x: ends, y: roof,
          line: { color: colour("--error"), dash: "dash" }, hovertemplate: "roof: %{y:.4g} TFLOP/s<extra></extra>",
        }, ...kinds.map((each) => ({
          type: "scatter", mode: "markers", name: plain(each.name), x: each.x, y: each.y,
          text: each.labels.map(plain), marker: { size: 9 },
          hovertemplate: "%{text}<br>%{x:.4g} FLOPs a byte: %{y:.4g} TFLOP/s<extra></extra>",
        }))],
        layout: layout("FLOPs a byte of HBM", "TFLOP/s", {
          showlegend: true, xaxis: { type: "log" }, yaxis: { type: "log", rangemode: "normal" },
        }),
      };
    },
    replicas() {
      const replicas = ofKind("replica_step");
      const steps = [...new Set(replicas.flatMap((each) => each.x))].sort((a, b) => a - b);
      const place = new Map(steps.map((step, index) => [step, index]));
      const rows = replicas.map((each) => {
        const row = new Array(steps.length).fill(null);
        each.x.forEach((step, index) => { row[place.get(step)] = each.y[index]; });
        return row;
      });
      const names = replicas.map((each, index) => `${index + 1}: ${each.name}`);
      return {
        traces: [{
          type: "heatmap", x: steps, y: names.map((_, index) => index), z: rows,
          text: rows.map((row, index) => row.map(() => plain(names[index]))),
          colorscale: "Cividis", colorbar: { title: { text: "ms" }, thickness: 12 },
          hovertemplate: "%{text}<br>step %{x}: %{z:.4g} ms<extra></extra>",
        }],
        layout: layout("step", "", {
          height: Math.min(Math.max(220, 90 + 18 * names.length), 900),
          yaxis: {
            autorange: "reversed", rangemode: "normal", showgrid: false,
            tickvals: names.map((_, index) => index),
            ticktext: names.map((name) => shortened(name, innerWidth < 640 ? 14 : 34)),
          },
          xaxis: { showgrid: false },
        }),
      };
    },
  };

  async function unpacked(element) {
    const packed = Uint8Array.from(atob(element.textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  async function drawAll() {
    const config = { responsive: true, displaylogo: false, displayModeBar: false, showTips: false };
    for (const canvas of document.querySelectorAll("[data-plot]")) {
      const drawing = drawings[canvas.dataset.plot]();
      await Plotly.react(canvas, drawing.traces, drawing.layout, config);
    }
    document.documentElement.dataset.plots = "drawn";
  }

  async function plot() {
    const library = document.getElementById("library");
    if (!library) return;
    try {
      const script = document.createElement("script");
      script.textContent = await unpacked(library);
      document.head.append(script);
      await drawAll();
      for (const query of [dark, printing]) query.addEventListener("change", drawAll);
    } catch (error) {
      document.documentElement.dataset.plots = "failed";
      for (const canvas of document.querySelectorAll("[data-plot]")) {
        canvas.textContent = `This browser cannot draw the plot (${error.message}).`;
      }
    }
  }

  function filter() {
    const form = document.querySelector(".filter");
    if (!form) return;
    const items = [...document.querySelectorAll(".checks [data-state]")];
    const texts = items.map((item) => item.textContent.toLowerCase());
    const apply = () => {
      const states = new Set([...form.querySelectorAll("[name=state]:checked")].map((box) => box.value));
      const words = form.elements.find.value.toLowerCase().split(/\s+/).filter(Boolean);
      items.forEach((item, index) => {
        item.hidden = !states.has(item.dataset.state) || !words.every((word) => texts[index].includes(word));
      });
      for (const group of document.querySelectorAll(".checks .group")) {
        group.hidden = !group.querySelector("[data-state]:not([hidden])");
      }
      const shown = items.filter((item) => !item.hidden).length;
      form.querySelector(".shown").textContent = shown === items.length ? "" : `${shown} of ${items.length} shown`;
    };
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }

  /* Tables of many rows are sorted by their heads and searched. */
  function tables() {
    const MANY = 8;
    for (const table of document.querySelectorAll("table.data")) {
      const rows = [...table.tBodies[0].rows];
      if (rows.length < 2) continue;
      table.querySelectorAll("thead th").forEach((head, column) => sortable(table, rows, head, column));
      if (rows.length <= MANY) continue;
      const label = document.createElement("label");
      label.className = "find";
      const input = Object.assign(document.createElement("input"), { type: "search", autocomplete: "off" });
      label.append("Find ", input);
      table.closest(".scroll").before(label);
      const texts = rows.map((row) => row.textContent.toLowerCase());
      input.addEventListener("input", () => {
        const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        rows.forEach((row, index) => { row.hidden = !words.every((word) => texts[index].includes(word)); });
      });
    }
  }

  function sortable(table, rows, head, column) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
    button.append(...head.childNodes);
    head.append(button);
    const key = (row) => row.cells[column]?.dataset.value ?? row.cells[column]?.textContent ?? "";
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const compare = (a, b) => {
        const [x, y] = [key(a), key(b)];
        const both = x !== "" && y !== "" && !isNaN(x) && !isNaN(y);
        return both ? x - y : (isNaN(x) ? 0 : 1) - (isNaN(y) ? 0 : 1) || String(x).localeCompare(String(y));
      };
      table.tBodies[0].append(...[...rows].sort((a, b) => (down ? compare(b, a) : compare(a, b))));
    });
  }

  function copying() {
    document.addEventListener("click", async (event) => {
      const button = event.target.closest(".copy");
      if (!button) return;
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  function print() {
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = [...document.querySelectorAll("details:not([open])")];
      closed.forEach((each) => { each.open = true; });
    });
    addEventListener("afterprint", () => closed.forEach((each) => { each.open = false; }));
  }

  filter();
  tables();
  copying();
  print();
  plot();
})();
