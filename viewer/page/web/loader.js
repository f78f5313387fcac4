// Unpacks the compressed script of the page and runs it. The content policy allows these two scripts only.
(async () => {
  const packed = document.getElementById("cv-script").textContent, script = document.createElement("script");
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  script.textContent = await new Response(unpacked).text();
  document.body.append(script);
})().catch(() => {
  const failure = document.getElementById("ui-failure");
  failure.textContent = "This file is damaged, or this browser is too old to read it: its script cannot be unpacked.";
  failure.className = "known";
});
