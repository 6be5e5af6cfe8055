// Runs an image in rp2040js, an emulator of RP2040: node rp2040.cjs IMAGE.bin < lines. Begins where the chip's ROM does with flash,
// which it copies 256 bytes of to RAM and runs; what UART0 says comes out.
const fs = require("fs");
const { RP2040 } = require("rp2040js");

const FLASH = 0x10000000, BOOT = 0x20041f00, HERTZ = 12e6, SECONDS = 300;

const chip = new RP2040();
chip.logger = { debug() {}, info() {}, warn() {}, error() {} };
chip.flash.fill(0xff);
chip.flash.set(fs.readFileSync(process.argv[2]));
for (let at = 0; at < 256; at += 4) chip.writeUint32(BOOT + at, chip.readUint32(FLASH + at));
chip.core.SP = BOOT;
chip.core.PC = BOOT;

const input = Buffer.concat([fs.readFileSync(0), Buffer.from([4])]);
const output = [];
let line = "", ready = false, ended = false, sent = 0;
chip.uart[0].onByte = (byte) => {
  output.push(byte);
  line += String.fromCharCode(byte);
  if (byte !== 10) return;
  ready = ready || line === "ready\n";
  ended = ended || /^(end|fault)/.test(line);
  line = "";
};
for (const start = Date.now(); !ended && Date.now() - start < SECONDS * 1000; ) {
  for (let i = 0; i < 20000; ++i) chip.clock.tick((chip.core.executeInstruction() * 1e9) / HERTZ);
  if (ready && sent < input.length && !chip.uart[0].rxFIFO.full) chip.uart[0].feedByte(input[sent++]);
}
process.stdout.write(Buffer.from(output), () => process.exit(ended ? 0 : 124));
