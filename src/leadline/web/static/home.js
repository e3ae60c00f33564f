"use strict";
// How far the person is.
(async () => {
  const { id, api, duration } = window.Leadline;
  try {
    const progress = await api.get("/api/progress"), left = progress.total - progress.done;
    const more = [progress.skipped ? `${progress.skipped} skipped` : "",
      progress.remaining_seconds && left ? `about ${duration(progress.remaining_seconds)} left` : ""].filter(Boolean);
    id("state").textContent = [`${progress.done} of ${progress.total} judged`, ...more].join(" · ");
    id("progress").max = Math.max(1, progress.total);
    id("progress").value = progress.done;
  } catch (error) {
    id("state").textContent = `The server says: ${error.message}`;
  }
})();
