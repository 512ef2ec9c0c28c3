// What is visible of a plane of points: where they are on the screen, which one is at a place, and drawing them. It knows nothing of notes.

// The view of the unit square: scale is the number of pixels of its side, x and y the place that is in the middle.
const smallest = 0.6, largest = 400;

// parts is how many places within a pixel, across and down, a circle may begin at.
const parts = 4;

// offsets are the places of a name around the middle of what it names, the nearest first, those above before those below.
const offsets = [];
for (let dy = -150; dy <= 150; dy += 12) for (let dx = -150; dx <= 150; dx += 25) offsets.push([dx, dy]);
offsets.sort((a, b) => a[0] ** 2 + a[1] ** 2 - b[0] ** 2 - b[1] ** 2 || a[1] - b[1]);

// crowded is the number of points from which a plane may have no place that is free.
const crowded = 3000;

const known = new Map();

// bytesOf returns the red, green and blue of a CSS colour.
function bytesOf(colour) {
	if (!known.has(colour)) {
		const canvas = document.createElement("canvas");
		canvas.width = canvas.height = 1;
		const c = canvas.getContext("2d");
		c.fillStyle = colour;
		c.fillRect(0, 0, 1, 1);
		known.set(colour, [...c.getImageData(0, 0, 1, 1).data.subarray(0, 3)]);
	}
	return known.get(colour);
}

// Grid finds the points near a place.
class Grid {
	constructor(x, y) {
		this.side = Math.max(1, Math.min(200, Math.ceil(Math.sqrt(x.length / 2))));
		const cells = new Int32Array(x.length);
		this.start = new Int32Array(this.side * this.side + 1);
		for (let i = 0; i < x.length; i++) {
			cells[i] = this.cell(y[i]) * this.side + this.cell(x[i]);
			this.start[cells[i] + 1]++;
		}
		for (let c = 0; c < this.side * this.side; c++) this.start[c + 1] += this.start[c];
		const at = this.start.slice();
		this.items = new Int32Array(x.length);
		for (let i = 0; i < x.length; i++) this.items[at[cells[i]]++] = i;
		this.x = x;
		this.y = y;
	}

	cell(v) {
		return Math.max(0, Math.min(this.side - 1, Math.floor(v * this.side)));
	}

	// nearest returns the point nearest to a place within a radius for which ok is true, -1 if there is none.
	nearest(px, py, radius, ok) {
		let best = -1, least = radius * radius;
		for (let row = this.cell(py - radius); row <= this.cell(py + radius); row++) {
			const from = this.start[row * this.side + this.cell(px - radius)], to = this.start[row * this.side + this.cell(px + radius) + 1];
			for (let k = from; k < to; k++) {
				const i = this.items[k], dx = this.x[i] - px, dy = this.y[i] - py, d = dx * dx + dy * dy;
				if (d < least && ok(i)) {
					least = d;
					best = i;
				}
			}
		}
		return best;
	}
}

// Plane draws points on a canvas. Its fields colours (a list of CSS colours), colour (an index for each point), dim (1 for a point that is
// faded), lit (a set of points that are drawn above all) and labels (names with the place that they name) are set from
// outside, and then draw is called.
export class Plane {
	constructor(canvas, onChange) {
		this.canvas = canvas;
		this.context = canvas.getContext("2d");
		this.onChange = onChange;
		this.x = this.y = new Float32Array(0);
		this.colour = new Uint8Array(0);
		this.dim = new Uint8Array(0);
		this.colours = [];
		this.lit = new Set();
		this.selected = -1;
		this.labels = [];
		this.ink = "#000";
		this.ground = "#fff";
		this.fit();
		new ResizeObserver(() => this.resize()).observe(canvas);
	}

	setPoints(x, y) {
		this.x = x;
		this.y = y;
		this.grid = new Grid(x, y);
		this.colour = new Uint8Array(x.length);
		this.dim = new Uint8Array(x.length);
	}

	fit() {
		this.zoom = 1;
		this.cx = this.cy = 0.5;
		this.request();
	}

	resize() {
		const ratio = Math.min(devicePixelRatio || 1, 2);
		this.width = this.canvas.clientWidth;
		this.height = this.canvas.clientHeight;
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.ratio = ratio;
		this.draw();
	}

	// scale is the number of pixels of the side of the unit square. A wide canvas stretches the square a little.
	get scaleX() {
		return this.zoom * Math.min(this.width, this.height * 1.6) * 0.94;
	}
	get scaleY() {
		return this.zoom * Math.min(this.height, this.width * 1.6) * 0.94;
	}

	screen(x, y) {
		return [(x - this.cx) * this.scaleX + this.width / 2, (y - this.cy) * this.scaleY + this.height / 2];
	}

	place(sx, sy) {
		return [(sx - this.width / 2) / this.scaleX + this.cx, (sy - this.height / 2) / this.scaleY + this.cy];
	}

	// at returns the point at a place of the screen, -1 if there is none within so many pixels.
	at(sx, sy, pixels = 10) {
		if (!this.grid) return -1;
		const [x, y] = this.place(sx, sy);
		return this.grid.nearest(x, y, pixels / Math.min(this.scaleX, this.scaleY), (i) => !this.dim[i]);
	}

	panBy(dx, dy) {
		this.cx = Math.max(0, Math.min(1, this.cx - dx / this.scaleX));
		this.cy = Math.max(0, Math.min(1, this.cy - dy / this.scaleY));
		this.request();
	}

	// zoomBy zooms around a place of the screen, which stays where it is.
	zoomBy(factor, sx = this.width / 2, sy = this.height / 2) {
		const [x, y] = this.place(sx, sy);
		this.zoom = Math.max(smallest, Math.min(largest, this.zoom * factor));
		const [nx, ny] = this.place(sx, sy);
		this.cx += x - nx;
		this.cy += y - ny;
		this.request();
	}

	// show moves the view so that a place is in the middle, at least so far zoomed in.
	show(x, y, zoom = this.zoom) {
		[this.cx, this.cy, this.zoom] = [x, y, Math.max(this.zoom, zoom)];
		this.request();
	}

	request() {
		if (this.frame) return;
		this.frame = requestAnimationFrame(() => {
			this.frame = 0;
			this.draw();
		});
	}

	radius() {
		const crowd = this.x.length > 8000 ? 1.6 : this.x.length > 1500 ? 2.2 : 3.2;
		return Math.min(9, crowd * Math.pow(this.zoom, 0.45));
	}

	draw() {
		if (!this.width || !this.height) return;
		const begun = performance.now(), c = this.context;
		const r = this.radius();
		this.drawPoints(c, r);
		c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		this.drawLit(c, r);
		this.drawLabels(c);
		this.took = performance.now() - begun;
		this.onChange?.();
	}

	// drawPoints fills the canvas with the ground and the points, those that are dim below the others. It writes pixels itself: a call for
	// each point costs the browser so much, where no graphics card helps, that frames pile up.
	drawPoints(c, r) {
		const w = this.canvas.width, h = this.canvas.height;
		if (this.image?.width !== w || this.image.height !== h) this.image = c.createImageData(w, h);
		const [red, green, blue] = bytesOf(this.ground);
		new Uint32Array(this.image.data.buffer).fill(new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0]);
		const colours = Float32Array.from(this.colours.flatMap(bytesOf));
		this.stamp(r, 1, 0.16, colours);
		this.stamp(r, 0, this.lit.size ? 0.25 : 0.8, colours);
		c.putImageData(this.image, 0, 0);
	}

	// stamp writes the points that are dim, or those that are not, into the image.
	stamp(r, dim, alpha, colours) {
		const { x, y, ratio, colour } = this, { width: w, height: h, data } = this.image;
		const { side, half, masks } = this.circle(r * ratio);
		const kx = this.scaleX * ratio, ky = this.scaleY * ratio;
		const ox = (this.width * ratio) / 2 - this.cx * kx - half, oy = (this.height * ratio) / 2 - this.cy * ky - half;
		for (let i = 0; i < x.length; i++) {
			if (this.dim[i] !== dim) continue;
			const px = x[i] * kx + ox, py = y[i] * ky + oy, left = Math.floor(px), top = Math.floor(py);
			if (left + side <= 0 || top + side <= 0 || left >= w || top >= h) continue;
			const mask = masks[Math.floor((py - top) * parts) * parts + Math.floor((px - left) * parts)];
			const k = 3 * colour[i], red = colours[k], green = colours[k + 1], blue = colours[k + 2];
			const toRow = Math.min(side, h - top), from = Math.max(0, -left), to = Math.min(side, w - left);
			for (let row = Math.max(0, -top); row < toRow; row++) {
				for (let col = from, at = 4 * ((top + row) * w + left + from); col < to; col++, at += 4) {
					const a = mask[row * side + col] * alpha;
					if (a === 0) continue;
					data[at] += (red - data[at]) * a;
					data[at + 1] += (green - data[at + 1]) * a;
					data[at + 2] += (blue - data[at + 2]) * a;
				}
			}
		}
	}

	// circle returns how much of each pixel a circle covers, for each part of a pixel that its place may begin at.
	circle(r) {
		if (this.mask?.r === r) return this.mask;
		const side = Math.ceil(2 * r + 2) + 1, half = (side - 1) / 2, masks = [];
		for (let part = 0; part < parts * parts; part++) {
			const cx = half + (part % parts + 0.5) / parts, cy = half + (Math.floor(part / parts) + 0.5) / parts;
			masks.push(Float32Array.from({ length: side * side }, (_, i) => Math.max(0, Math.min(1, r + 0.5 - Math.hypot((i % side) + 0.5 - cx, Math.floor(i / side) + 0.5 - cy)))));
		}
		return (this.mask = { r, side, half, masks });
	}

	drawLit(c, r) {
		for (const i of this.lit) {
			const [sx, sy] = this.screen(this.x[i], this.y[i]);
			c.beginPath();
			c.arc(sx, sy, r + 3.5, 0, 7);
			c.fillStyle = this.colours[this.colour[i]];
			c.fill();
			c.lineWidth = 2;
			c.strokeStyle = this.ink;
			c.stroke();
		}
		if (this.selected < 0) return;
		const [sx, sy] = this.screen(this.x[this.selected], this.y[this.selected]);
		c.beginPath();
		c.arc(sx, sy, r + 5, 0, 7);
		c.lineWidth = 2.5;
		c.strokeStyle = this.ink;
		c.stroke();
	}

	// drawLabels writes names where there is room, the first ones first: as near to what they name as they cover neither a point nor
	// another name. On a plane so full that no place is free, a name stands in the middle of its points, with a halo.
	drawLabels(c) {
		const taken = [], full = this.x.length > crowded, free = this.freeCells();
		c.font = `600 13px ${getComputedStyle(document.body).fontFamily}`;
		c.textAlign = "center";
		c.textBaseline = "middle";
		c.lineJoin = "round";
		this.shown = 0;
		for (const l of this.labels) {
			const [mx, my] = this.screen(l.x, l.y);
			const text = this.zoom > 2.5 ? l.long : l.text, w = c.measureText(text).width / 2 + 6;
			const boxAt = ([x, y]) => [x - w, y - 11, x + w, y + 11];
			const fits = (box) => box[0] >= 0 && box[1] >= 0 && box[2] <= this.width && box[3] <= this.height && !taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3]);
			const places = offsets.map(([dx, dy]) => [mx + dx, my + dy]);
			const at = places.find((p) => fits(boxAt(p)) && free(boxAt(p))) || (full && fits(boxAt([mx, my])) && [mx, my]);
			if (!at) continue;
			taken.push(boxAt(at));
			c.lineWidth = 5;
			c.strokeStyle = this.ground;
			c.globalAlpha = 0.92;
			c.strokeText(text, ...at);
			c.globalAlpha = 1;
			c.fillStyle = this.ink;
			c.fillText(text, ...at);
			this.shown++;
		}
	}

	// freeCells returns a function that tells whether a box of the screen has no point in it.
	freeCells() {
		const side = 6, across = Math.ceil(this.width / side) + 1, cells = new Uint8Array(across * (Math.ceil(this.height / side) + 1)), r = this.radius();
		for (let i = 0; i < this.x.length; i++) {
			const [sx, sy] = this.screen(this.x[i], this.y[i]);
			if (sx >= 0 && sy >= 0 && sx < this.width && sy < this.height) cells[Math.floor(sy / side) * across + Math.floor(sx / side)] = 1;
		}
		return (box) => {
			for (let y = Math.max(0, Math.floor((box[1] - r) / side)); y <= (box[3] + r) / side; y++) {
				for (let x = Math.max(0, Math.floor((box[0] - r) / side)); x <= (box[2] + r) / side; x++) if (cells[y * across + x]) return false;
			}
			return true;
		};
	}
}
