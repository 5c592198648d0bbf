/** What our tokens say of themselves (RFC 7519), for the end that mints them and the end that checks them. */

export const TOKEN_ISSUER = 'drawbridge';
export const TOKEN_AUDIENCE = 'drawbridge';
