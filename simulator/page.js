// Waits for news and swaps the conversation in place, so that what is being typed and what is unfolded stays.
(async () => {
  const page = location.pathname;
  let version = document.documentElement.dataset.version;
  for (;;) {
    try {
      const now = await (await fetch(`${page}/news?after=${version}`)).text();
      if (now === version) continue;
      const next = new DOMParser().parseFromString(await (await fetch(page)).text(), "text/html");
      version = next.documentElement.dataset.version;
      const old = document.getElementById("conversation");
      const fresh = next.getElementById("conversation");
      const open = [...old.querySelectorAll("details")].map((details) => details.open);
      [...fresh.querySelectorAll("details")].forEach((details, index) => { details.open = open[index] ?? details.open; });
      old.replaceWith(fresh);
    } catch {
      await new Promise((resume) => setTimeout(resume, 2000));
    }
  }
})();
