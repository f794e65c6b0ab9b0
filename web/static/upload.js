// @ts-check
// Reads a control file into the field below it. Without this script the text is pasted there.

for (const input of document.querySelectorAll("input[data-into]")) {
  if (!(input instanceof HTMLInputElement)) continue;
  const into = document.getElementById(input.dataset.into ?? "");
  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    if (!file || !(into instanceof HTMLTextAreaElement)) return;
    into.value = await file.text();
    const name = document.getElementById("name");
    if (name instanceof HTMLInputElement && !name.value) name.value = file.name.replace(/\.toml$/, "");
  });
}
