// @ts-check
// Sounds, made rather than loaded, and vibration. Both only for those who asked.

import { settings } from "./settings.js";

/** @type {AudioContext|undefined} */
let audio;

/** For each event its tones (hertz, start and length in seconds) and its vibration (milliseconds). @type {Record<string, {tones: [number, number, number][], shakes: number[]}>} */
const events = {
	own: { tones: [[330, 0, 0.05]], shakes: [] },
	move: { tones: [[440, 0, 0.07]], shakes: [30] },
	check: { tones: [[523, 0, 0.07], [659, 0.09, 0.1]], shakes: [30, 40, 30] },
	low: { tones: [[880, 0, 0.06], [880, 0.14, 0.06]], shakes: [60, 60, 60] },
	end: { tones: [[392, 0, 0.12], [494, 0.14, 0.12], [587, 0.28, 0.25]], shakes: [120] },
};

/** signal plays what belongs to an event. @param {string} event */
export function signal(event) {
	const e = events[event];
	if (settings.vibration && e.shakes.length) navigator.vibrate?.(e.shakes);
	if (!settings.sound) return;
	audio ??= new AudioContext();
	void audio.resume();
	for (const [pitch, at, length] of e.tones) tone(audio, pitch, audio.currentTime + at, length);
}

/** @param {AudioContext} context @param {number} pitch @param {number} at @param {number} length */
function tone(context, pitch, at, length) {
	const source = context.createOscillator(), gain = context.createGain();
	source.type = "triangle";
	source.frequency.value = pitch;
	gain.gain.setValueAtTime(0.0001, at);
	gain.gain.exponentialRampToValueAtTime(0.2, at + 0.008);
	gain.gain.exponentialRampToValueAtTime(0.0001, at + length + 0.08);
	source.connect(gain).connect(context.destination);
	source.start(at);
	source.stop(at + length + 0.1);
}
