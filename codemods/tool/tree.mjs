// The files of a checkout in memory: read once, changed by the steps, written back with `git mv` for moves.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const textual = /\.(ts|mjs|md|json|sql|txt|yaml|yml|sh)$|(^|\/)(\.gitignore|\.npmrc|run)$/;

export class Tree {
  constructor(root) {
    this.root = root;
    const list = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8', maxBuffer: 1e8 });
    this.all = new Set(list.split('\n').filter((p) => p && existsSync(join(root, p))));
    this.text = new Map();
    this.original = new Map();
    for (const path of this.all) {
      if (!textual.test(path) || path.endsWith('package-lock.json')) continue;
      const text = readFileSync(join(root, path), 'utf8');
      this.text.set(path, text);
      this.original.set(path, text);
    }
    this.moves = []; // [from, to] in order
    this.deleted = new Set();
  }
  has(path) { return this.all.has(path); }
  get(path) { return this.text.get(path); }
  set(path, text) { this.text.set(path, text); this.all.add(path); this.deleted.delete(path); }
  delete(path) { this.text.delete(path); this.all.delete(path); this.deleted.add(path); }
  paths(filter = () => true) { return [...this.text.keys()].filter(filter).sort(); }
  ts() { return this.paths((p) => p.endsWith('.ts')); }
  move(from, to) {
    this.moves.push([from, to]);
    this.all.delete(from); this.all.add(to);
    if (this.text.has(from)) {
      this.text.set(to, this.text.get(from)); this.text.delete(from);
      this.original.set(to, this.original.get(from)); this.original.delete(from);
    }
  }
  write() {
    let changed = 0;
    this.changed = [];
    for (const [from, to] of this.moves) {
      if (!existsSync(join(this.root, from))) continue; // made by this step
      mkdirSync(dirname(join(this.root, to)), { recursive: true });
      execFileSync('git', ['mv', from, to], { cwd: this.root });
    }
    for (const path of this.deleted) {
      if (existsSync(join(this.root, path))) { rmSync(join(this.root, path)); changed += 1; }
    }
    for (const [path, text] of this.text) {
      if (this.original.get(path) === text) continue;
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      writeFileSync(join(this.root, path), text);
      changed += 1;
      this.changed.push(path);
    }
    for (const [from] of this.moves) {
      for (let folder = dirname(from); folder !== '.'; folder = dirname(folder)) {
        const path = join(this.root, folder);
        if (!existsSync(path)) continue;
        if (readdirSync(path).length > 0) break;
        rmdirSync(path);
      }
    }
    return changed;
  }
}
