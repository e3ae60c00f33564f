"use strict";
// Time spent on a pair: it runs while the page is visible, and stops a minute after the last sign of life.
(() => {
  const IDLE = 60000;
  const SIGNS = ["keydown", "pointermove", "pointerdown", "wheel", "scroll", "touchmove"];

  class Clock {
    constructor() {
      this.restart(0);
      const alive = () => { this.settle(); this.active = performance.now(); };
      for (const sign of SIGNS) document.addEventListener(sign, alive, { passive: true, capture: true });
      document.addEventListener("visibilitychange", () => {
        this.settle();
        this.running = !document.hidden;
        this.since = this.active = performance.now();
      });
    }
    restart(seconds) {
      this.total = seconds * 1000;
      this.since = this.active = performance.now();
      this.running = !document.hidden;
    }
    settle() {
      const now = performance.now(), until = Math.min(now, this.active + IDLE);
      if (this.running && until > this.since) this.total += until - this.since;
      this.since = now;
    }
    seconds() {
      this.settle();
      return Math.round(this.total / 100) / 10;
    }
  }
  window.Leadline.Clock = Clock;
})();
