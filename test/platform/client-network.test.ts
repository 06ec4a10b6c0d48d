import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientNetwork } from '#server/platform/network/ip-address.ts';

describe('the client network of a request (specification section 12.2)', () => {
  const assertOne = (source: string, spellings: readonly string[]) => {
    for (const spelling of spellings) assert.equal(clientNetwork(spelling), source, spelling);
  };

  it('a client network is an IPv4 address without its port, or the /64 network of an IPv6 address, in any spelling (§12.2/failed-passwords)', () => {
    assertOne('198.51.100.1', [
      '198.51.100.1',
      '198.51.100.1:49152',
      '::ffff:198.51.100.1',
      '::FFFF:c633:6401',
      '0:0:0:0:0:ffff:c633:6401',
      '0000::ffff:c633:6401',
      '[::ffff:198.51.100.1]:443',
      ' 198.51.100.1 ',
    ]);
    assertOne('2001:db8:0:2::/64', [
      '2001:db8:0:2::1',
      '2001:DB8::2:0:0:0:1',
      '2001:0db8:0000:0002:ffff:ffff:ffff:ffff',
      '[2001:db8:0:2::1]',
      '[2001:db8:0:2::1]:443',
      '2001:db8:0:2::198.51.100.1',
    ]);
    assertOne('fe80:0:0:0::/64', ['fe80::1', 'fe80::1%eth0', '[fe80::2%25eth0]:1']);
    assertOne('0:0:0:0::/64', ['::', '::1', '::198.51.100.1']);
    assertOne('1:0:0:0::/64', ['1::', '1::1.2.3.4', '1:0::5:6:7:8']);
  });

  it('all addresses that can’t be parsed count as the same client network', () => {
    assertOne('unknown', [
      '',
      'unknown',
      '_hidden',
      '198.51.100.256',
      '198.51.100.1:x',
      '[::1',
      '1:2:3',
      'x:1',
    ]);
  });
});
