// What is visible of a plane of points: where they are on the screen, which one is at a place, and drawing them. It knows nothing of notes.

// The view of the unit square: scale is the number of pixels of its side, x and y the place that is in the middle.
const smallest = 0.6, largest = 400;

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
// faded) and lit (a set of points that are drawn above all) are set from outside, and then draw is called.
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
		this.ink = this.ground = "#000";
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
		if (!this.width) return;
		const begun = performance.now(), c = this.context;
		c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		c.clearRect(0, 0, this.width, this.height);
		const r = this.radius();
		this.drawPoints(c, r, 1, 0.16);
		this.drawPoints(c, r, 0, this.lit.size ? 0.25 : 0.8);
		this.drawLit(c, r);
		this.drawLabels(c);
		this.took = performance.now() - begun;
		this.onChange?.();
	}

	// drawPoints draws the points that are dim, or those that are not, as copies of one circle a colour.
	drawPoints(c, r, dim, alpha) {
		const circles = this.colours.map((colour) => this.circle(colour, r));
		const half = circles[0] ? circles[0].width / this.ratio / 2 : 0, size = 2 * half;
		const { x, y, cx, cy, scaleX, scaleY, width, height, colour } = this;
		c.globalAlpha = alpha;
		for (let i = 0; i < x.length; i++) {
			if (this.dim[i] !== dim) continue;
			const sx = (x[i] - cx) * scaleX + width / 2 - half, sy = (y[i] - cy) * scaleY + height / 2 - half;
			if (sx < -size || sy < -size || sx > width || sy > height) continue;
			c.drawImage(circles[colour[i]], sx, sy, size, size);
		}
		c.globalAlpha = 1;
	}

	circle(colour, r) {
		const key = `${colour} ${r.toFixed(1)} ${this.ratio}`;
		this.circles ||= new Map();
		if (this.circles.size > 200) this.circles.clear();
		if (!this.circles.has(key)) {
			const canvas = document.createElement("canvas");
			canvas.width = canvas.height = Math.ceil((2 * r + 2) * this.ratio);
			const c = canvas.getContext("2d");
			c.fillStyle = colour;
			c.arc(canvas.width / 2, canvas.width / 2, r * this.ratio, 0, 7);
			c.fill();
			this.circles.set(key, canvas);
		}
		return this.circles.get(key);
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

	// drawLabels writes names where there is room, the first ones first.
	drawLabels(c) {
		const taken = [];
		c.font = `600 13px ${getComputedStyle(document.body).fontFamily}`;
		c.textAlign = "center";
		c.textBaseline = "middle";
		c.lineJoin = "round";
		this.shown = 0;
		for (const l of this.labels) {
			const [sx, sy] = this.screen(l.x, l.y);
			const text = this.zoom > 2.5 ? l.long : l.text, w = c.measureText(text).width / 2 + 6;
			const box = [sx - w, sy - 11, sx + w, sy + 11];
			if (box[0] < 0 || box[1] < 0 || box[2] > this.width || box[3] > this.height) continue;
			if (taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3])) continue;
			taken.push(box);
			c.lineWidth = 4;
			c.strokeStyle = this.ground;
			c.globalAlpha = 0.85;
			c.strokeText(text, sx, sy);
			c.globalAlpha = 1;
			c.fillStyle = this.ink;
			c.fillText(text, sx, sy);
			this.shown++;
		}
	}
}
