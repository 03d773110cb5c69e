// Keeps the page as it is now: the server sends what stands in <main> whenever it is another.
"use strict";

(() => {
  const main = document.querySelector("main[data-live]");
  const sign = document.getElementById("live");
  if (!main || !sign || !window.EventSource) return;
  const AGAIN_AFTER_MS = 5000;
  let source = null;

  const say = (state, words) => {
    sign.hidden = false;
    sign.dataset.state = state;
    sign.textContent = words;
  };

  // What the reader opened stays open, and what they are marking is not taken from under the cursor.
  const show = (html) => {
    if (String(window.getSelection()).length > 0) return;
    const open = new Set([...main.querySelectorAll("details[open][id]")].map((one) => one.id));
    const shut = new Set([...main.querySelectorAll("details:not([open])[id]")].map((one) => one.id));
    const made = new DOMParser().parseFromString(html, "text/html");
    for (const one of made.querySelectorAll("details[id]")) {
      if (open.has(one.id)) one.open = true;
      if (shut.has(one.id)) one.open = false;
    }
    main.replaceChildren(...made.body.childNodes);
  };

  const listen = () => {
    source = new EventSource(`${main.dataset.live}&seen=${main.dataset.seen}`);
    source.onopen = () => say("on", "Live");
    source.onerror = () => {
      say("off", "Not live; trying again");
      // What is not answered by a stream (a proxy's 502 while the server starts) no browser asks for again by itself.
      if (source && source.readyState === EventSource.CLOSED) {
        source = null;
        window.setTimeout(() => {
          if (!source && !document.hidden) listen();
        }, AGAIN_AFTER_MS);
      }
    };
    source.addEventListener("page", (event) => {
      const news = JSON.parse(event.data);
      main.dataset.seen = news.seen;
      show(news.html);
    });
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      if (source) source.close();
      source = null;
    } else if (!source) listen();
  });
  if (!document.hidden) listen();
})();
