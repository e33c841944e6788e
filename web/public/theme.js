// Before anything is painted: the theme that was chosen, so that no page flashes in the other one.
;(() => {
  try {
    const theme = localStorage.getItem("chatd.theme")
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme
  } catch {
    // Storage may be forbidden; the system's preference holds.
  }
})()
