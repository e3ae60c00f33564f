"use strict";
// Opens the judging screen over the data of this page.
window.Leadline.startKit();
