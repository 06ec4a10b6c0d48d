import { realpathSync } from 'node:fs';
import type { Command } from '../command.ts';
import { readOptions } from '../options.ts';
import { repository } from '../ownline.ts';
import { runNeighbours } from './neighbours.ts';
import { fullSize, quickSize } from './size.ts';

export const neighboursCommand: Command = {
  usage: `neighbours [--quick] [--route TEXT] [--repository PATH] [--keep]

Sends the most expensive requests that each route accepts from a stranger, a member, a key and a phone, measures the CPU
of one and what 64 connections of it do to another team's sends; then sockets that do not read, one team at its own
limit, and what refusals write. --quick: fewer and shorter ones. --route: only routes whose method and path contain
TEXT, and only their requests. --repository: the service of another checkout. --keep: leaves log and figures behind.`,
  run: (args, signal) => {
    const values = readOptions(args, { quick: false, route: '', repository, keep: false });
    const size = values.quick ? quickSize : fullSize;
    return runNeighbours({ ...values, size, repository: realpathSync(values.repository) }, signal);
  },
};
