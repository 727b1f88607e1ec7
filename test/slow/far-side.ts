/**
 * The far side of the lab (lab.ts): a process in a network namespace that owns every address of the world. It answers
 * DNS and HTTP, and tells its parent of all that arrives: `dns NAME`, `tcp PORT NAME`, `udp PORT`.
 */
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { DnsServer } from '../support/dns-server.ts';

/** As in lab.ts. */
const NAME_SERVER = '198.51.100.53';

/** Off the link: an address on it would end in a question for its hardware address, and hide the leak. */
const ANSWERS = ['203.0.113.10', '2001:db8:f::10'];
const TCP = [443, 3478, 4433, 5349];
const UDP = [443, 1900, 3478, 4433, 5349, 5353];

function tell(what: string): void {
  process.send?.(what);
}

process.once('message', (commands: string[][]) => {
  for (const [program = '', ...args] of commands) execFileSync(program, args, { stdio: 'inherit' });
  open().then(
    () => tell('ready'),
    (error: unknown) => {
      throw error;
    },
  );
});
process.once('disconnect', () => process.exit(0));

async function open(): Promise<void> {
  const answer = ({ name }: { name: string }) => {
    tell(`dns ${name}`);
    return { addresses: ANSWERS, ttlSec: 1 };
  };
  // Bound to the very address that is asked: an answer from another one would not be taken.
  await DnsServer.start(answer, { host: NAME_SERVER, port: 53 });
  for (const port of UDP) {
    const socket = createSocket({ type: 'udp6', ipv6Only: false });
    socket.on('message', () => tell(`udp ${port}`));
    await new Promise<void>((resolve) => {
      socket.bind(port, '::', resolve);
    });
  }
  const web = createServer((request, response) => {
    tell(`tcp 80 ${request.headers.host?.split(/[.:]/)[0]}`);
    response.writeHead(200, { 'content-type': 'text/html', 'access-control-allow-origin': '*' });
    response.end('<title>far</title>');
  });
  web.listen(80, '::');
  for (const port of TCP) {
    createTcpServer((socket) => {
      tell(`tcp ${port}`);
      socket.on('error', () => undefined);
      socket.end();
    }).listen(port, '::');
  }
}
