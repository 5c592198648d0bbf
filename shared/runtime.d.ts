/** What browsers, Node and Workers all have, of what this folder uses: its own types name no runtime. */

declare function atob(base64: string): string;
declare function btoa(binary: string): string;

declare function setTimeout(callback: () => void, ms: number): unknown;

declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>;
}

declare class TextDecoder {
  decode(bytes: Uint8Array): string;
}

declare class URL {
  constructor(url: string);
  readonly hostname: string;
}

declare const crypto: {
  randomUUID(): string;
  readonly subtle: {
    digest(algorithm: string, bytes: Uint8Array): Promise<ArrayBuffer>;
    importKey(
      format: 'jwk',
      key: object,
      algorithm: object,
      isExportable: boolean,
      uses: 'verify'[],
    ): Promise<object>;
    sign(algorithm: object, key: object, bytes: Uint8Array): Promise<ArrayBuffer>;
    verify(
      algorithm: object,
      key: object,
      signature: Uint8Array,
      bytes: Uint8Array,
    ): Promise<boolean>;
  };
};
